// Identities of Extract, Insert, Construct and Shuffle: a component taken from what was just put
// together is the component itself.
#include "lower/identities.h"
#include "lower/inline_vector.h"

namespace lcpy::lower {
namespace {

using Operands = InlineVector<Operand, 8>;

const Operation* source(const KernelDescriptor& d, ValueId v) {
  return d.values[v.value].def == Value::Def::Result ? &d.op(OpId(d.values[v.value].source))
                                                     : nullptr;
}

// Operands copied, since appending may move the vector that they stand in.
Operands operands_of(const KernelDescriptor& d, const Operation& o) {
  Operands all;
  all.append(d.operands_of(o));
  return all;
}

ValueId extract_path(const KernelDescriptor& d, KernelBuilder& b, ValueId v,
                     std::span<const Operand> path) {
  if (path.empty()) return v;
  Operands operands;
  operands.push_back(Operand::of(v));
  Type t = d.type_of(v);
  for (Operand x : path) {
    operands.push_back(x);
    t = t.component(x.index);
  }
  return d.result(d.op(b.append(Op::Extract, operands, {&t, 1})));
}

ValueId extract(KernelDescriptor& d, KernelBuilder& b, const Operation& o) {
  const Operands x = operands_of(d, o);
  const Operation* s = source(d, x[0].value());
  if (!s) return {};
  const std::span<const Operand> path(x.data() + 1, x.size() - 1);
  const Operands from = operands_of(d, *s);
  if (s->op == Op::Construct)
    return extract_path(d, b, from[path[0].index].value(), path.subspan(1));
  if (s->op == Op::Shuffle)
    return extract_path(d, b, from[0].value(), {&from[1 + path[0].index], 1});
  if (s->op == Op::Extract) {
    Operands whole;
    for (size_t i = 1; i < from.size(); i++) whole.push_back(from[i]);
    whole.append(path);
    return extract_path(d, b, from[0].value(), whole);
  }
  if (s->op != Op::Insert) return {};
  const std::span<const Operand> put(from.data() + 2, from.size() - 2);
  const size_t shared = std::min(put.size(), path.size());
  for (size_t i = 0; i < shared; i++)
    if (put[i].index != path[i].index) return extract_path(d, b, from[0].value(), path);
  if (path.size() >= put.size())
    return extract_path(d, b, from[1].value(), path.subspan(put.size()));
  return {};
}

// Into what was put together from few parts: put it together anew.
ValueId insert(KernelDescriptor& d, KernelBuilder& b, const Operation& o) {
  constexpr size_t kFew = 8;
  Operands x = operands_of(d, o);
  const Operation* s = source(d, x[0].value());
  if (!s || s->op != Op::Construct || s->operand_count > kFew || x.size() != 3) return {};
  InlineVector<ValueId, kFew> parts;
  for (Operand p : d.operands_of(*s)) parts.push_back(p.value());
  parts[x[2].index] = x[1].value();
  return b.construct(d.type_of(o.first_result), parts);
}

// From the components of one vector: that vector, or a shuffle of it.
ValueId construct(KernelDescriptor& d, KernelBuilder& b, const Operation& o) {
  const Type t = d.type_of(o.first_result);
  ValueId whole;
  Operands lanes;
  bool in_order = true;
  for (Operand x : d.operands_of(o)) {
    const Operation* s = source(d, x.value());
    if (!s || s->op != Op::Extract || s->operand_count != 2) return {};
    const auto from = d.operands_of(*s);
    if (whole && whole != from[0].value()) return {};
    whole = from[0].value();
    in_order &= from[1].index == lanes.size();
    lanes.push_back(from[1]);
  }
  if (!whole) return {};
  if (in_order && d.type_of(whole) == t) return whole;
  if (!t.is_vector() || !d.type_of(whole).is_vector()) return {};
  Operands operands;
  operands.push_back(Operand::of(whole));
  operands.append(lanes);
  return d.result(d.op(b.append(Op::Shuffle, operands, {&t, 1})));
}

ValueId shuffle(KernelDescriptor& d, KernelBuilder& b, const Operation& o) {
  const Operands x = operands_of(d, o);
  const Type t = d.type_of(o.first_result);
  bool same = d.type_of(x[0].value()) == t;
  for (size_t i = 1; i < x.size(); i++) same &= x[i].index == i - 1;
  if (same) return x[0].value();
  const Operation* s = source(d, x[0].value());
  if (!s) return {};
  const Operands from = operands_of(d, *s);
  if (s->op == Op::Shuffle) {
    Operands operands;
    operands.push_back(from[0]);
    for (size_t i = 1; i < x.size(); i++) operands.push_back(from[1 + x[i].index]);
    return d.result(d.op(b.append(Op::Shuffle, operands, {&t, 1})));
  }
  if (s->op != Op::Construct) return {};
  InlineVector<ValueId, 4> parts;
  for (size_t i = 1; i < x.size(); i++) parts.push_back(from[x[i].index].value());
  return b.construct(t, parts);
}

}  // namespace

ValueId simplify_components(KernelDescriptor& d, KernelBuilder& b, const Operation& o) {
  if (o.op == Op::Extract) return extract(d, b, o);
  if (o.op == Op::Insert) return insert(d, b, o);
  if (o.op == Op::Construct) return construct(d, b, o);
  return shuffle(d, b, o);
}

}  // namespace lcpy::lower
