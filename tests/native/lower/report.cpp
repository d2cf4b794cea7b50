// pass_report as text: what becomes of asserts, traps, checks and prints, and that nothing else
// changes. How it runs is tested from Python, on every device.
#include "base/error.h"
#include "check.h"
#include "kernel/walk.h"
#include "lower/lower.h"

using namespace lcpy;

namespace {

const char* const kHead = R"(kernel "k" block 64 1 1 math ieee
slot 0 "b" global buffer<int> read_write number 0 length
slot 1 "n" uniform int read number 1
slot 2 "report_tag" uniform vector<uint,4> none number 2 report
slot 3 "report" global buffer<uint> none number 3 report
slot 4 "s" shared array<int,64> read_write number 16777216
site 0 assert "why" ()
site 1 trap "" (int)
site 2 print "format" (int, vector<float,2>)
site 3 bounds "buffer 'b'" (int)
)";

KernelDescriptor parse(const std::string& text) {
  KernelDescriptor d = parse_kernel(kHead + text);
  verify_or_throw(d, "the test's text");
  return d;
}

KernelDescriptor reported(const std::string& text, bool ragged = false) {
  KernelDescriptor d = parse(text);
  pass_report(d, ragged);
  verify_or_throw(d, "report");
  KernelDescriptor again = parse_kernel(to_text(d));
  CHECK(to_text(again) == to_text(d));
  pass_dead(d);
  verify_or_throw(d, "dead");
  bool left = false;
  walk_functions(d, [&](OpId, const Operation& o) { left |= is_report(o.op); });
  CHECK(!left);
  return d;
}

size_t count(const KernelDescriptor& d, Op op, uint32_t function = 0) {
  size_t n = 0;
  walk_body(d, d.functions[function].body, [&](OpId, const Operation& o) { n += o.op == op; });
  return n;
}

std::string kernel(const std::string& body) {
  return "function 0 \"k\" () -> () {\n%0: int = Load $1\n" + body + "Return\n}\n";
}

bool is_refused(const std::string& text, const std::string& rule) {
  const KernelDescriptor d = parse_kernel(kHead + text);
  for (const Violation& v : verify(d))
    if (v.rule == rule) return true;
  return false;
}

}  // namespace

TEST(text_form_and_hash) {
  const KernelDescriptor d = parse(kernel("%1: bool = Less %0, int(3)\nAssert 0, %1\n"));
  CHECK(d.sites.size() == 4 && d.sites[3].text == "buffer 'b'" && d.sites[2].types.size() == 2);
  const KernelDescriptor again = parse_kernel(to_text(d));
  CHECK(to_text(again) == to_text(d) && again.hash() == d.hash());
  CHECK(d.report_tag() == SlotId(2u) && d.report_memory() == SlotId(3u));
}

TEST(verify_knows_sites) {
  CHECK(is_refused(kernel("Assert 7, bool(true)\n"), "site"));
  CHECK(is_refused(kernel("Assert 1, bool(true)\n"), "site"));
  CHECK(is_refused(kernel("Assert 0, %0\n"), "operand_type"));
  CHECK(is_refused(kernel("Assert 0\n"), "operand_count"));
  CHECK(is_refused(kernel("Trap 1, uint(3)\n"), "operand_type"));
  CHECK(is_refused(kernel("Print 2, %0\n"), "operand_count"));
  CHECK(is_refused(kernel("Print 2, %0, %0\n"), "operand_type"));
  CHECK(is_refused(kernel("Bounds 3, %0, int(4), int(4)\n"), "operand_type"));
}

TEST(a_trapping_thread_returns) {
  const KernelDescriptor d =
      reported(kernel("%1: bool = Less %0, int(3)\nAssert 0, %1\nStore $0, %0, %0\n"));
  CHECK(count(d, Op::If) == 1 && count(d, Op::Call) == 1 && count(d, Op::Return) == 2);
  CHECK(d.functions.size() == 2 && count(d, Op::AtomicCompareExchange, 1) == 1);
  CHECK(d.slot(d.report_memory()).access == Access::ReadWrite);
}

TEST(what_is_certain_costs_nothing) {
  const KernelDescriptor d = reported(
      kernel("Assert 0, bool(true)\nBounds 3, int(3), uint(4), uint(4)\nStore $0, %0, 0\n"));
  CHECK(d.functions.size() == 1 && count(d, Op::If) == 0);
  CHECK(d.slot(d.report_memory()).access == Access::None);
  const KernelDescriptor out =
      reported(kernel("Bounds 3, int(-1), uint(4), uint(4)\nStore $0, %0, 0\n"));
  CHECK(count(out, Op::Call) == 1);
}

TEST(a_check_dominates_its_repetitions) {
  const std::string check = "Bounds 3, %0, %2, %2\n";
  const std::string start = "%2: uint = BufferLength $0\n%3: bool = Less %0, int(9)\n";
  CHECK(count(reported(kernel(start + check + check)), Op::Call) == 1);
  CHECK(count(reported(kernel(start + check + "If %3, {\n" + check + "Yield\n}, {\nYield\n}\n")),
              Op::Call) == 1);
  const std::string arms =
      "If %3, {\n" + check + "Yield\n}, {\n" + check + "Yield\n}\n" + check;
  CHECK(count(reported(kernel(start + arms)), Op::Call) == 3);
}

TEST(callables_tell_their_callers) {
  const KernelDescriptor d = reported(
      "function 0 \"k\" () -> () {\n%0: int = Load $1\n%1: int = Call &1, %0\n"
      "Store $0, %1, 0\nReturn\n}\n"
      "function 1 \"f\" (%2: int) -> (int) {\n%3: bool = Less %2, int(5)\nAssert 0, %3\n"
      "Return %2\n}\n");
  CHECK(d.functions[1].results.size() == 2 && d.functions[1].results[1].is_bool());
  CHECK(count(d, Op::Return) == 2 && count(d, Op::Return, 1) == 2);
}

TEST(with_barriers_the_thread_goes_on) {
  const std::string body =
      "%1: bool = Less %0, int(3)\nStore $4, %0, 0\nAssert 0, %1\nStore $4, %0, 1\nSyncBlock\n"
      "Store $0, %0, 0\n";
  const KernelDescriptor d = reported(kernel(body));
  CHECK(count(d, Op::Return) == 1);
  CHECK(count(d, Op::SyncBlock) == 2);  // one more, after the block's words are cleared
  const KernelDescriptor plain = reported(kernel("Store $4, %0, 0\nSyncBlock\nStore $0, %0, 0\n"));
  CHECK(count(plain, Op::SyncBlock) == 1 && count(plain, Op::If) == 0);
}

TEST(threads_past_the_end_are_not_judged) {
  const std::string body = "SyncBlock\n%1: bool = Less %0, int(3)\nAssert 0, %1\n";
  CHECK(count(reported(kernel(body), false), Op::DispatchSize) == 0);
  CHECK(count(reported(kernel(body), true), Op::DispatchSize) == 1);
}

TEST(prints_reserve_and_write) {
  const KernelDescriptor d =
      reported(kernel("Print 2, %0, vector<float,2>(1, 2)\nStore $0, %0, 0\n"));
  CHECK(d.functions.size() == 2 && count(d, Op::Return) == 1);
  CHECK(count(d, Op::Store) == 4);  // three words and the program's own
  CHECK(count(d, Op::AtomicAdd, 1) == 2);
}
