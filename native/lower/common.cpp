// pass_common: an operation equal to one that dominates it becomes that one. Only pure operations,
// and loads of memory that nothing writes while the kernel runs.
#include <algorithm>

#include "lower/lower.h"
#include "lower/rewrite.h"

namespace lcpy {
namespace lower {
namespace {

// The order of these operands changes no bit of the result.
bool commutes(Op op) {
  return op == Op::Add || op == Op::Mul || op == Op::BitAnd || op == Op::BitOr ||
         op == Op::BitXor || op == Op::Equal || op == Op::NotEqual;
}

class Common : public Rewriter<Common> {
 public:
  explicit Common(KernelDescriptor& d) : Rewriter(d) {
    size_t buckets = 256;
    while (buckets < d.ops.size()) buckets *= 2;
    heads_.assign(buckets, kNone);
    nodes_.reserve(d.ops.size());
  }

 private:
  friend Rewriter;
  static constexpr uint32_t kNone = 0xffffffffu;
  struct Node {
    OpId op;
    uint32_t hash, next;
  };

  // What stands in a body dominates the rest of it alone: its entries go when the body ends, and
  // since entries are made in order, each is then the first of its bucket.
  void enter_body() { marks_.push_back(nodes_.size()); }
  void leave_body() {
    while (nodes_.size() > marks_.back()) {
      heads_[nodes_.back().hash & (heads_.size() - 1)] = nodes_.back().next;
      nodes_.pop_back();
    }
    marks_.pop_back();
  }

  bool visit(OpId id) {
    const Operation& o = d_.op(id);
    if (o.result_count != 1 || !(is_pure(o.op) || is_constant_load(d_, o))) return true;
    const auto x = d_.operands_of(o);
    if (commutes(o.op) && x.size() == 2 && x[1].index < x[0].index) {
      const Operand first = x[0];
      d_.operands[o.operand_begin] = x[1];
      d_.operands[o.operand_begin + 1] = first;
    }
    const uint32_t h = hash(o);
    uint32_t& head = heads_[h & (heads_.size() - 1)];
    for (uint32_t n = head; n != kNone; n = nodes_[n].next) {
      if (nodes_[n].hash != h || !equal(o, d_.op(nodes_[n].op))) continue;
      replace(o.first_result, d_.op(nodes_[n].op).first_result);
      return false;
    }
    nodes_.push_back({id, h, head});
    head = static_cast<uint32_t>(nodes_.size() - 1);
    return true;
  }

  uint32_t hash(const Operation& o) const {
    uint64_t h = static_cast<uint64_t>(o.op) * 0x9e3779b97f4a7c15ull +
                 std::hash<Type>()(d_.type_of(o.first_result));
    for (Operand x : d_.operands_of(o))
      h = (h ^ (uint64_t(x.index) << 3 | static_cast<uint64_t>(x.kind))) * 0x9e3779b97f4a7c15ull,
      h ^= h >> 31;
    return static_cast<uint32_t>(h ^ (h >> 32));
  }

  bool equal(const Operation& a, const Operation& b) const {
    if (a.op != b.op || a.flags != b.flags || a.operand_count != b.operand_count) return false;
    if (d_.type_of(a.first_result) != d_.type_of(b.first_result)) return false;
    const auto x = d_.operands_of(a), y = d_.operands_of(b);
    return std::equal(x.begin(), x.end(), y.begin());
  }

  std::vector<uint32_t> heads_;
  std::vector<Node> nodes_;
  std::vector<size_t> marks_;
};

}  // namespace
}  // namespace lower

void pass_common(KernelDescriptor& d) { lower::Common(d).run(); }

}  // namespace lcpy
