// pass_split: structs that flow become their members. What branches yield, loops carry and
// functions take and return is one value for each member, structs within structs likewise; arrays,
// matrices and vectors stay whole. Within a function a struct that is put together is known by its
// members alone, and is put together only where something needs it whole: a store, an external
// function, an array of such structs.
#include <algorithm>

#include "base/error.h"
#include "lower/inline_vector.h"
#include "lower/lower.h"
#include "lower/rewrite.h"

namespace lcpy {
namespace lower {
namespace {

// Larger structs stay whole, and so do functions with more parameters and results: SPIR-V allows
// 255 parameters, and so many live values are in memory anyhow.
constexpr uint32_t kMostMembers = 64, kLongestSignature = 128;

// Members that are no structs, those of structs within too; of any other type one. Counts no
// further than just past the limit.
uint32_t members(Type t) {
  if (!t.is_struct()) return 1;
  uint32_t sum = 0;
  for (Type m : t.members())
    if ((sum += members(m)) > kMostMembers) return kMostMembers + 1;
  return sum;
}
bool splits(Type t) { return t.is_struct() && members(t) <= kMostMembers; }

bool any_flows(const KernelDescriptor& d) {
  const auto flows = [&](ValueId v) { return splits(d.type_of(v)); };
  for (const Function& f : d.functions) {
    if (f.external != Function::kNotExternal) continue;
    if (std::ranges::any_of(f.params, flows) || std::ranges::any_of(f.results, splits)) return true;
  }
  for (const Body& b : d.bodies)
    if (std::ranges::any_of(b.params, flows)) return true;
  for (const Operation& o : d.ops) {
    if (o.op != Op::If && o.op != Op::Switch && o.op != Op::Loop && o.op != Op::Select) continue;
    for (uint32_t i = 0; i < o.result_count; i++)
      if (flows(d.result(o, i))) return true;
  }
  return false;
}

class Split : public Rewriter<Split> {
 public:
  explicit Split(KernelDescriptor& d) : Rewriter(d), whole_(d.functions.size()) {}

  void run() {
    parts_.assign(d_.values.size(), kNone);
    for (uint32_t f = 0; f < d_.functions.size(); f++) split_signature(f);
    for (function_ = 0; function_ < d_.functions.size(); function_++)
      walk(d_.functions[function_].body);
  }

 private:
  friend Rewriter;
  static constexpr uint32_t kNone = 0xffffffffu;
  using Parts = InlineVector<ValueId, 16>;
  using Path = InlineVector<Operand, 8>;

  bool splits(ValueId v) const { return lower::splits(d_.type_of(v)); }

  template <class Each>
  static void each_member(Type t, Each&& each) {
    if (!t.is_struct()) return each(t);
    for (Type m : t.members()) each_member(m, each);
  }

  // ---- what defines them ------------------------------------------------------------------------
  void split_signature(uint32_t f) {
    Function& function = d_.functions[f];
    uint32_t count = 0;
    for (ValueId p : function.params) count += members(d_.type_of(p));
    for (Type t : function.results) count += members(t);
    whole_[f] = function.external != Function::kNotExternal || count > kLongestSignature;
    if (whole_[f]) return;
    function.params = split_params(function.params, Value::Def::FunctionParameter, f);
    std::vector<Type> results;
    for (Type t : function.results) {
      if (lower::splits(t))
        each_member(t, [&](Type m) { results.push_back(m); });
      else
        results.push_back(t);
    }
    function.results = std::move(results);
  }

  std::vector<ValueId> split_params(const std::vector<ValueId>& params, Value::Def def,
                                    uint32_t source) {
    std::vector<ValueId> all;
    for (ValueId p : params) {
      if (splits(p)) {
        const Parts parts = new_members(d_.type_of(p), def, source, all.size());
        know(p, parts);
        all.insert(all.end(), parts.begin(), parts.end());
      } else {
        d_.values[p.value].index = static_cast<uint32_t>(all.size());
        all.push_back(p);
      }
    }
    return all;
  }

  // Results have consecutive ids, so that all of them are new.
  void split_results(OpId id) {
    const Operation o = d_.op(id);
    bool any = false;
    for (uint32_t i = 0; i < o.result_count; i++) any |= splits(d_.result(o, i));
    if (!any) return;
    const ValueId first(d_.values.size());
    for (uint32_t i = 0; i < o.result_count; i++) {
      const ValueId old = d_.result(o, i);
      const Type t = d_.type_of(old);
      const size_t index = d_.values.size() - first.value;
      if (lower::splits(t)) {
        know(old, new_members(t, Value::Def::Result, id.value, index));
      } else {
        d_.values.push_back({t, Value::Def::Result, id.value, static_cast<uint32_t>(index)});
        replace(old, ValueId(d_.values.size() - 1));
      }
    }
    const size_t count = d_.values.size() - first.value;
    d_.op(id).first_result = first;
    d_.op(id).result_count = static_cast<uint16_t>(count);
    LCPY_CHECK(d_.op(id).result_count == count);
  }

  Parts new_members(Type t, Value::Def def, uint32_t source, size_t index) {
    Parts parts;
    each_member(t, [&](Type m) {
      parts.push_back(ValueId(d_.values.size()));
      d_.values.push_back({m, def, source, static_cast<uint32_t>(index++)});
    });
    return parts;
  }

  // ---- the walk ---------------------------------------------------------------------------------
  bool visit(OpId id) {
    const Operation o = d_.op(id);
    switch (o.op) {
      case Op::Construct:
        return !construct(o) && keep(id);
      case Op::Extract:
        return !extract(o) && keep(id);
      case Op::Insert:
        return !insert(o) && keep(id);
      case Op::Select:
        return !select(o) && keep(id);
      case Op::Loop: {
        pass_members(id);
        const BodyId body = d_.operands_of(d_.op(id))[0].body();
        d_.bodies[body.value].params =
            split_params(d_.body(body).params, Value::Def::BodyParameter, body.value);
        break;
      }
      case Op::Yield:
      case Op::Break:
      case Op::Continue:
        pass_members(id);
        return true;
      case Op::Return:
        if (whole_[function_]) return keep(id);
        pass_members(id);
        return true;
      case Op::Call:
        if (whole_[d_.operands_of(o)[0].index]) return keep(id);
        pass_members(id);
        break;
      case Op::If:
      case Op::Switch:
        break;
      default:
        return keep(id);
    }
    split_results(id);
    return true;
  }

  // Operations that stay as they are read structs whole.
  bool keep(OpId id) {
    for (uint32_t i = 0; i < d_.op(id).operand_count; i++) {
      const Operand x = d_.operands_of(d_.op(id))[i];
      if (!x.is_value() || !is_known(x.value())) continue;
      const ValueId made = whole(x.value());
      d_.operands_of(d_.op(id))[i] = Operand::of(made);
    }
    return true;
  }

  // The operation takes the members instead.
  void pass_members(OpId id) {
    const Operation o = d_.op(id);
    std::vector<Operand> operands;
    for (uint32_t i = 0; i < o.operand_count; i++) {
      const Operand x = d_.operands_of(o)[i];
      if (!x.is_value() || !splits(x.value())) {
        operands.push_back(x);
        continue;
      }
      for (ValueId m : members_of(x.value())) operands.push_back(Operand::of(m));
    }
    if (operands.size() == o.operand_count) {
      std::copy(operands.begin(), operands.end(), d_.operands_of(d_.op(id)).begin());
      return;
    }
    d_.op(id).operand_begin = static_cast<uint32_t>(d_.operands.size());
    d_.op(id).operand_count = static_cast<uint32_t>(operands.size());
    d_.operands.insert(d_.operands.end(), operands.begin(), operands.end());
  }

  // ---- operations on structs: true where the result is known by its members ---------------------
  bool construct(const Operation& o) {
    if (!splits(o.first_result)) return false;
    Parts parts;
    for (uint32_t i = 0; i < o.operand_count; i++)
      parts.append(members_of(d_.operands_of(o)[i].value()));
    know(o.first_result, parts);
    return true;
  }

  bool select(const Operation& o) {
    if (!splits(o.first_result)) return false;
    const ValueId condition = d_.operands_of(o)[0].value();
    const Parts yes = members_of(d_.operands_of(o)[1].value());
    const Parts no = members_of(d_.operands_of(o)[2].value());
    Parts parts;
    for (size_t i = 0; i < yes.size(); i++)
      parts.push_back(b_.emit(Op::Select, d_.type_of(yes[i]), {condition, yes[i], no[i]}));
    know(o.first_result, parts);
    return true;
  }

  // Where a path leads: past `first` members to type `type`, a struct or one of the members; the
  // rest of the path goes on inside that member.
  struct Place {
    Type type;
    uint32_t first = 0;
    Path rest;
  };
  Place place(Type t, const Operation& o, uint32_t from) const {
    Place p{t, 0, {}};
    uint32_t i = from;
    for (; i < o.operand_count && p.type.is_struct(); i++) {
      const uint32_t chosen = d_.operands_of(o)[i].index;
      for (uint32_t k = 0; k < chosen; k++) p.first += members(p.type.component(k));
      p.type = p.type.component(chosen);
    }
    for (; i < o.operand_count; i++) p.rest.push_back(d_.operands_of(o)[i]);
    return p;
  }

  bool extract(const Operation& o) {
    const ValueId from = d_.operands_of(o)[0].value();
    if (!is_known(from)) return false;
    const Place p = place(d_.type_of(from), o, 1);
    const Parts parts = members_of(from);
    if (p.type.is_struct()) {
      Parts some;
      for (uint32_t i = 0; i < members(p.type); i++) some.push_back(parts[p.first + i]);
      know(o.first_result, some);
      return true;
    }
    const Type type = d_.type_of(o.first_result);
    replace(o.first_result,
            p.rest.empty() ? parts[p.first] : append(Op::Extract, {parts[p.first]}, p.rest, type));
    return true;
  }

  bool insert(const Operation& o) {
    if (!splits(o.first_result)) return false;
    const ValueId put = d_.operands_of(o)[1].value();
    const Place p = place(d_.type_of(o.first_result), o, 2);
    Parts parts = members_of(d_.operands_of(o)[0].value());
    if (p.rest.empty()) {
      const Parts some = members_of(put);
      std::copy(some.begin(), some.end(), parts.begin() + p.first);
    } else {
      parts[p.first] = append(Op::Insert, {parts[p.first], whole(put)}, p.rest, p.type);
    }
    know(o.first_result, parts);
    return true;
  }

  ValueId append(Op op, std::initializer_list<ValueId> values, const Path& path, Type type) {
    Path operands;
    for (ValueId v : values) operands.push_back(Operand::of(v));
    operands.append(path);
    return d_.result(d_.op(b_.append(op, operands, {&type, 1})));
  }

  // ---- structs that are known by their members --------------------------------------------------
  bool is_known(ValueId v) const { return v.value < parts_.size() && parts_[v.value] != kNone; }

  void know(ValueId v, const Parts& parts) {
    parts_[v.value] = static_cast<uint32_t>(pool_.size());
    pool_.insert(pool_.end(), parts.begin(), parts.end());
  }

  // The members of a struct that splits, taken from it here if it is not known by them; else the
  // value itself.
  Parts members_of(ValueId v) {
    Parts parts;
    const Type t = d_.type_of(v);
    if (!lower::splits(t)) {
      parts.push_back(v);
    } else if (is_known(v)) {
      parts.append({pool_.data() + parts_[v.value], members(t)});
    } else {
      take_members(v, t, {}, parts);
    }
    return parts;
  }

  void take_members(ValueId v, Type t, const Path& path, Parts& parts) {
    for (uint32_t i = 0; i < t.count(); i++) {
      Path inner = path;
      inner.push_back(Operand::imm(i));
      const Type m = t.component(i);
      if (m.is_struct())
        take_members(v, m, inner, parts);
      else
        parts.push_back(append(Op::Extract, {v}, inner, m));
    }
  }

  // The struct put together here, if it is known by its members; else the value itself.
  ValueId whole(ValueId v) {
    if (!is_known(v)) return v;
    size_t next = parts_[v.value];
    return put_together(d_.type_of(v), next);
  }

  ValueId put_together(Type t, size_t& next) {
    if (!t.is_struct()) return pool_[next++];
    Parts parts;
    for (Type m : t.members()) parts.push_back(put_together(m, next));
    return b_.construct(t, parts);
  }

  std::vector<uint8_t> whole_;  // by function: its signature stays
  uint32_t function_ = 0;
  std::vector<uint32_t> parts_;  // by value: where its members stand in pool_
  std::vector<ValueId> pool_;
};

}  // namespace
}  // namespace lower

void pass_split(KernelDescriptor& d) {
  if (!lower::any_flows(d)) return;
  lower::Split(d).run();
  pass_fold(d);
  pass_simplify(d);
  pass_common(d);
  remove_dead(d);
}

}  // namespace lcpy
