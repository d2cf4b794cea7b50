// What the two halves of pass_report share: report.cpp (writing reports; functions whose trapping
// thread returns) and report_barriers.cpp (functions with barriers).
#pragma once
#include <initializer_list>
#include <span>
#include <unordered_set>
#include <vector>

#include "kernel/report.h"
#include "lower/lower.h"
#include "lower/rewrite.h"

namespace lcpy::lower {

class Reporter {
 public:
  Reporter(KernelDescriptor& d, bool ragged);
  void run();

 private:
  friend class BarrierRewrite;
  friend void rewrite_barriers(Reporter& r, uint32_t function);
  struct TrapValues {
    ValueId first, second;  // integers that the message names; none where it names none
  };

  // ---- what functions are like ----
  bool traps(uint32_t f);        // an assert, trap or check, also in what it calls
  bool has_barrier(uint32_t f);  // likewise
  bool op_traps(const Operation& o);
  bool op_has_barrier(const Operation& o);
  bool body_traps(BodyId id);
  bool body_has_barrier(BodyId id);

  // ---- functions whose trapping thread returns ----
  void enter_function(uint32_t f);
  void body(BodyId id);
  void site(const Operation& o);
  void leave_function();
  ValueId flagged_call(const Operation& o);

  // ---- conditions ----
  ValueId holds(const Operation& o);
  bool is_certain(const Operation& o);
  bool judged_everywhere(const Operation& o) const;
  void forget(size_t mark);
  TrapValues values_of(const Operation& o);

  // ---- writing reports ----
  void trap(uint32_t site_number, const TrapValues& values);
  void print(uint32_t site_number, std::span<const ValueId> values, ValueId condition);
  template <class Make>
  FunctionId helper(FunctionId& known, const char* name, uint32_t params,
                    std::span<const Type> results, Make&& make);
  FunctionId trap_function();
  FunctionId line_function();
  ValueId line_header(ValueId start, ValueId site_number);
  void split(ValueId v, std::vector<ValueId>& words);
  void flatten(ValueId v, std::vector<ValueId>& words);
  ValueId tag(uint32_t lane);
  ValueId atomic(Op op, uint32_t at, std::initializer_list<ValueId> values);
  void put(uint32_t at, ValueId v);
  void put(ValueId at, ValueId v);
  ValueId number(uint32_t n);

  // ---- building ----
  ValueId either(ValueId a, ValueId b);
  ValueId negated(ValueId a);
  void redirect(OpId id);
  void replace(ValueId from, ValueId to);

  template <class Each>
  void each_body(const Operation& o, Each&& each) {
    if (op_row(o.op).category != OpCategory::Control) return;
    for (uint32_t k = 0; k < o.operand_count; k++) {
      const Operand x = d_.operands[o.operand_begin + k];
      if (x.kind == Operand::Kind::Body) each(x.body());
    }
  }

  // An arm that `make` fills; it gets a Yield of nothing unless `make` ended it.
  template <class Make>
  BodyId arm(Make&& make) {
    const BodyId outer = b_.insertion(), made = b_.add_body();
    b_.set_insertion(made);
    make();
    const auto& ops = d_.body(made).ops;
    if (ops.empty() || !is_terminator(d_.op(ops.back()).op)) b_.terminate(Op::Yield);
    b_.set_insertion(outer);
    return made;
  }
  template <class Make>
  void when(ValueId condition, Make&& make) {
    const BodyId then = arm(make), other = arm([] {});
    const Operand operands[] = {Operand::of(condition), Operand::of(then), Operand::of(other)};
    b_.append(Op::If, operands);
  }
  template <class Make>
  void if_not(ValueId condition, Make&& make) {
    const BodyId then = arm([] {}), other = arm(make);
    const Operand operands[] = {Operand::of(condition), Operand::of(then), Operand::of(other)};
    b_.append(Op::If, operands);
  }
  // One word: of `first` where the condition holds, else of `second`.
  template <class First, class Second>
  ValueId choose(ValueId condition, First&& first, Second&& second) {
    const BodyId then = arm([&] { yield(first()); }), other = arm([&] { yield(second()); });
    const Operand operands[] = {Operand::of(condition), Operand::of(then), Operand::of(other)};
    const Type t = Type::of(Scalar::UInt32);
    return d_.result(d_.op(b_.append(Op::If, operands, {&t, 1})));
  }
  template <class First>
  ValueId choose(ValueId condition, First&& first) {
    return choose(condition, first, [&] { return number(0); });
  }
  void yield(ValueId v) { b_.terminate(Op::Yield, {&v, 1}); }

  KernelDescriptor& d_;
  KernelBuilder b_;
  SlotId tag_, memory_;
  std::vector<uint8_t> traps_, barriers_;  // by function; 2 is not known yet
  bool judges_threads_ = false;            // threads past the end run, and do not report
  bool used_ = false;
  uint32_t function_ = 0;
  bool returns_flag_ = false;  // the function's last result says that the thread trapped
  ValueId inside_;             // of the function; none where every thread counts
  FunctionId trap_function_, line_function_;
  std::vector<uint32_t> replaced_;
  std::unordered_set<uint64_t> known_;  // index and limit of checks that dominate this place
  std::vector<uint64_t> known_marks_;
};

// A function with barriers in a kernel that traps.
void rewrite_barriers(Reporter& r, uint32_t function);

}  // namespace lcpy::lower
