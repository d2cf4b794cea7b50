// What libFuzzer is to the targets of the folder above, where there is no clang: changes inputs of
// a corpus at random, without looking at what they reach. `program SECONDS CORPUS FOUND`: an input
// that ends the program is written to the file FOUND.
#include <sanitizer/common_interface_defs.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size);

namespace {

std::string input, found;

void keep() {
  std::ofstream(found, std::ios::binary) << input;
  std::fprintf(stderr, "the input is %s\n", found.c_str());
}
void too_long(int) {
  keep();
  std::_Exit(1);
}

struct Chance {  // splitmix64
  uint64_t state;
  uint64_t next() {
    uint64_t z = (state += 0x9e3779b97f4a7c15u);
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
  }
  size_t below(size_t n) { return n ? next() % n : 0; }
};

void change(std::string& s, const std::vector<std::string>& corpus, Chance& c) {
  constexpr uint32_t kEdges[] = {0,    1,      2,       0x7f,       0x80,
                                 0xff, 0xffff, 0x10000, 0x7fffffff, 0xffffffff};
  const size_t at = c.below(s.size());
  switch (c.below(7)) {
    case 0:
      if (!s.empty()) s[at] = static_cast<char>(s[at] ^ (1 << c.below(8)));
      break;
    case 1:
      if (!s.empty()) s[at] = static_cast<char>(c.next());
      break;
    case 2: {  // a word, whole
      const uint32_t edge = kEdges[c.below(std::size(kEdges))];
      const size_t start = at & ~size_t{3};
      for (size_t i = 0; i < 4 && start + i < s.size(); i++)
        s[start + i] = static_cast<char>(edge >> (8 * i));
      break;
    }
    case 3:
      s.erase(at, c.below(16));
      break;
    case 4:
      s.insert(at, s.substr(c.below(s.size()), c.below(32)));
      break;
    case 5:
      s.resize(at);
      break;
    case 6: {
      const std::string& other = corpus[c.below(corpus.size())];
      s = s.substr(0, at) + other.substr(c.below(other.size()));
      break;
    }
  }
  constexpr size_t kLongest = 20000;
  if (s.size() > kLongest) s.resize(kLongest);
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 4) return std::fputs("SECONDS CORPUS FOUND\n", stderr), 2;
  found = argv[3];
  std::vector<std::string> corpus;
  for (const auto& entry : std::filesystem::directory_iterator(argv[2])) {
    std::ifstream file(entry.path(), std::ios::binary);
    corpus.emplace_back(std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>());
  }
  if (corpus.empty()) return std::fputs("an empty corpus\n", stderr), 2;
  __sanitizer_set_death_callback(keep);
  std::signal(SIGALRM, too_long);
  const auto now = [] { return std::chrono::steady_clock::now(); };
  const auto end = now() + std::chrono::seconds(std::atoi(argv[1]));
  Chance chance{static_cast<uint64_t>(now().time_since_epoch().count())};
  uint64_t tried = 0;
  while (now() < end) {
    input = corpus[chance.below(corpus.size())];
    for (size_t n = tried < corpus.size() ? 0 : 1 + chance.below(6); n; n--)
      change(input, corpus, chance);
    alarm(10);
    LLVMFuzzerTestOneInput(reinterpret_cast<const uint8_t*>(input.data()), input.size());
    tried++;
  }
  std::printf("stat::number_of_executed_units: %llu\n", static_cast<unsigned long long>(tried));
  return 0;
}
