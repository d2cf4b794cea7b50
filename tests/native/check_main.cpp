// Runs every registered test, or those whose name contains an argument.
#include <cstdio>
#include <cstring>
#include <vector>

#include "check.h"

namespace lcpy::test {
namespace {
struct Case {
  const char *file, *name;
  void (*body)();
};
std::vector<Case>& cases() {
  static std::vector<Case> all;
  return all;
}
}  // namespace
void add(const char* file, const char* name, void (*body)()) {
  cases().push_back({file, name, body});
}
}  // namespace lcpy::test

int main(int argc, char** argv) {
  int passed = 0, failed = 0;
  for (const auto& c : lcpy::test::cases()) {
    bool wanted = argc < 2;
    for (int i = 1; i < argc; i++) wanted |= std::strstr(c.name, argv[i]) != nullptr;
    if (!wanted) continue;
    try {
      c.body();
      passed++;
    } catch (const std::exception& e) {
      failed++;
      std::printf("FAILED %s\n  %s\n", c.name, e.what());
    }
  }
  std::printf("%d passed, %d failed\n", passed, failed);
  return failed != 0 || passed == 0;
}
