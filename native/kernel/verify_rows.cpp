// Each operation's operand kinds, counts and types, by its row of op.def: one function for each
// shape, one for each operation that only lowering makes. Both tables are total; the compiler
// checks it.
#include <array>

#include "base/error.h"
#include "kernel/verify.h"

namespace lcpy {
namespace {

using Check = RowFault (*)(const RowContext&);
constexpr RowFault kFine{};
constexpr RowFault fault(const char* rule, const char* message) { return {rule, message}; }
constexpr RowFault kCount{"operand_count", "wrong number of operands"};
constexpr RowFault kKind{"operand_kind", "an operand is not of the kind that the row takes"};
constexpr RowFault kTypes{"operand_type", "operand and result types do not fit the row"};
constexpr RowFault kResults{"result_count", "wrong number of results"};

// n values and one result; the row's function looks at the types.
RowFault values(const RowContext& c, size_t n) {
  if (c.count() != n) return kCount;
  for (size_t i = 0; i < n; i++)
    if (!c.is_value(i)) return kKind;
  return c.o.result_count == 1 ? kFine : kResults;
}
// n values of exactly the result's type, which must satisfy `allowed`.
template <class Allowed>
RowFault alike(const RowContext& c, size_t n, Allowed allowed) {
  if (RowFault f = values(c, n); f.rule) return f;
  const Type r = c.result();
  if (!r.is_lanes() || !allowed(r)) return kTypes;
  for (size_t i = 0; i < n; i++)
    if (c.type(i) != r) return kTypes;
  return kFine;
}
bool arithmetic(Type t) { return t.is_arithmetic(); }
bool integer(Type t) { return t.is_integer(); }
bool floating(Type t) { return t.is_float(); }
bool bits(Type t) { return t.is_integer() || t.has_class(ScalarClass::Bool); }
bool boolean(Type t) { return t.has_class(ScalarClass::Bool); }
bool float_vector(Type t) { return t.is_vector() && t.is_float(); }
bool index_type(Type t) { return t.is_scalar() && t.is_integer() && scalar_size(t.scalar()) >= 4; }
Type bool_lanes(Type t) { return Type::of(Scalar::Bool).with_lanes(t.lanes()); }

// ---- shapes of rows that programs can name ----------------------------------------------------
RowFault shape_KernelOnly(const RowContext&) { return fault("level", "a row without a check"); }
RowFault shape_NumUnary(const RowContext& c) { return alike(c, 1, arithmetic); }
RowFault shape_BoolUnary(const RowContext& c) { return alike(c, 1, boolean); }
RowFault shape_BitsUnary(const RowContext& c) { return alike(c, 1, bits); }
RowFault shape_NumBinary(const RowContext& c) { return alike(c, 2, arithmetic); }
RowFault shape_TrueDivide(const RowContext& c) { return alike(c, 2, floating); }
RowFault shape_IntUnary(const RowContext& c) { return alike(c, 1, integer); }
RowFault shape_IntBinary(const RowContext& c) { return alike(c, 2, integer); }
RowFault shape_BitsBinary(const RowContext& c) { return alike(c, 2, bits); }
RowFault shape_Shift(const RowContext& c) {
  if (RowFault f = values(c, 2); f.rule) return f;
  const Type t = c.type(0), n = c.type(1);
  const bool good = t.is_integer() && n.is_integer() && t.lanes() == n.lanes() && c.result() == t;
  return good ? kFine : kTypes;
}
RowFault shape_BoolBinary(const RowContext& c) { return alike(c, 2, boolean); }
RowFault compare(const RowContext& c, bool bools) {
  if (RowFault f = values(c, 2); f.rule) return f;
  const Type t = c.type(0);
  const bool good = t.is_arithmetic() || (bools && boolean(t));
  return good && c.type(1) == t && c.result() == bool_lanes(t) ? kFine : kTypes;
}
RowFault shape_Compare(const RowContext& c) { return compare(c, false); }
RowFault shape_CompareEqual(const RowContext& c) { return compare(c, true); }
RowFault shape_LinearAlgebra(const RowContext& c) {
  if (RowFault f = values(c, 2); f.rule) return f;
  const Type a = c.type(0), b = c.type(1), r = c.result();
  if (a.is_matrix() && b == a) return r == a ? kFine : kTypes;
  if (a.is_matrix() && b == a.element()) return r == b ? kFine : kTypes;
  if (b.is_matrix() && a == b.element()) return r == a ? kFine : kTypes;
  const bool dot = float_vector(a) && a == b && r == a.element();
  return dot ? kFine : kTypes;
}
RowFault shape_Conditional(const RowContext&) {
  return fault("level", "lowering replaces this row");
}
RowFault shape_SelectShape(const RowContext& c) {
  if (RowFault f = values(c, 3); f.rule) return f;
  const Type k = c.type(0), r = c.result();
  if (c.type(1) != r || c.type(2) != r || !r.is_value()) return kTypes;
  return k.is_bool() || (r.is_vector() && k == bool_lanes(r)) ? kFine : kTypes;
}
RowFault shape_NumTernary(const RowContext& c) { return alike(c, 3, arithmetic); }
RowFault shape_FloatUnary(const RowContext& c) { return alike(c, 1, floating); }
RowFault shape_FloatBinary(const RowContext& c) { return alike(c, 2, floating); }
RowFault shape_FloatTernary(const RowContext& c) { return alike(c, 3, floating); }
RowFault shape_FloatTest(const RowContext& c) {
  if (RowFault f = values(c, 1); f.rule) return f;
  return c.type(0).is_float() && c.result() == bool_lanes(c.type(0)) ? kFine : kTypes;
}
RowFault shape_PowShape(const RowContext& c) { return alike(c, 2, floating); }
RowFault shape_Cross3(const RowContext& c) {
  return alike(c, 2, [](Type t) { return float_vector(t) && t.lanes() == 3; });
}
// `n` equal float lanes of vectors → their scalar.
RowFault to_scalar(const RowContext& c, size_t n, bool integers) {
  if (RowFault f = values(c, n); f.rule) return f;
  const Type t = c.type(0);
  for (size_t i = 1; i < n; i++)
    if (c.type(i) != t) return kTypes;
  const bool good = t.is_vector() && (t.is_float() || (integers && t.is_integer()));
  return good && c.result() == t.element() ? kFine : kTypes;
}
RowFault shape_VectorToScalar(const RowContext& c) { return to_scalar(c, 1, false); }
RowFault shape_VectorPairToScalar(const RowContext& c) { return to_scalar(c, 2, false); }
RowFault shape_FloatVectorUnary(const RowContext& c) { return alike(c, 1, float_vector); }
RowFault shape_FloatVectorBinary(const RowContext& c) { return alike(c, 2, float_vector); }
RowFault shape_FloatVectorTernary(const RowContext& c) { return alike(c, 3, float_vector); }
RowFault shape_RefractShape(const RowContext& c) {
  if (RowFault f = values(c, 3); f.rule) return f;
  const Type v = c.type(0);
  return float_vector(v) && c.type(1) == v && c.type(2) == v.element() && c.result() == v ? kFine
                                                                                          : kTypes;
}
RowFault shape_BoolVectorToBool(const RowContext& c) {
  if (RowFault f = values(c, 1); f.rule) return f;
  return boolean(c.type(0)) && c.result().is_bool() ? kFine : kTypes;
}
RowFault shape_LanesToScalar(const RowContext& c) { return to_scalar(c, 1, true); }
RowFault shape_OuterShape(const RowContext& c) {
  if (RowFault f = values(c, 2); f.rule) return f;
  const Type r = c.result();
  return r.is_matrix() && c.type(0) == r.element() && c.type(1) == r.element() ? kFine : kTypes;
}
RowFault shape_MatrixUnary(const RowContext& c) {
  if (RowFault f = values(c, 1); f.rule) return f;
  return c.result().is_matrix() && c.type(0) == c.result() ? kFine : kTypes;
}
RowFault shape_MatrixToScalar(const RowContext& c) {
  if (RowFault f = values(c, 1); f.rule) return f;
  return c.type(0).is_matrix() && c.result() == Type::of(c.type(0).scalar()) ? kFine : kTypes;
}
RowFault ast_only(const RowContext&) { return fault("level", "lowering replaces this row"); }
constexpr Check shape_MakeShape = ast_only, shape_MakeStructShape = ast_only,
                shape_ZeroShape = ast_only, shape_BoolToVoid = ast_only,
                shape_BufferReadShape = ast_only, shape_BufferWriteShape = ast_only,
                shape_ByteReadShape = ast_only, shape_ByteWriteShape = ast_only,
                shape_PackShape = ast_only, shape_UnpackShape = ast_only,
                shape_Refused = ast_only;
RowFault shape_NoneToUint3(const RowContext& c) {
  if (RowFault f = values(c, 0); f.rule) return f;
  return c.result() == Type::vector(Scalar::UInt32, 3) ? kFine : kTypes;
}
RowFault shape_NoneToUint(const RowContext& c) {
  if (RowFault f = values(c, 0); f.rule) return f;
  return c.result() == Type::of(Scalar::UInt32) ? kFine : kTypes;
}
RowFault shape_NoneToUlong(const RowContext& c) {
  if (RowFault f = values(c, 0); f.rule) return f;
  return c.result() == Type::of(Scalar::UInt64) ? kFine : kTypes;
}
RowFault shape_NoneToBool(const RowContext& c) {
  if (RowFault f = values(c, 0); f.rule) return f;
  return c.result().is_bool() ? kFine : kTypes;
}
RowFault shape_NoneToVoid(const RowContext& c) {
  if (c.count()) return kCount;
  return c.o.result_count ? kResults : kFine;
}

// ---- memory
// --------------------------------------------------------------------------------------
const Slot* slot_of(const RowContext& c) {
  return c.count() && c.operands[0].kind == Operand::Kind::Slot ? &c.d.slot(c.operands[0].slot())
                                                                : nullptr;
}
bool has_place(const Slot& s) {
  return s.memory == MemoryClass::Global || s.memory == MemoryClass::Uniform ||
         s.memory == MemoryClass::Constant || s.memory == MemoryClass::Shared ||
         s.memory == MemoryClass::Scratch;
}
bool is_writable(const Slot& s) {
  return s.memory == MemoryClass::Global || s.memory == MemoryClass::Shared ||
         s.memory == MemoryClass::Scratch;
}
RowFault access(const Slot& s, Access need) {
  const bool writes = static_cast<int>(need) & static_cast<int>(Access::Write);
  if (writes && !is_writable(s)) return fault("slot_class", "this slot's memory cannot be written");
  if ((static_cast<int>(s.access) & static_cast<int>(need)) != static_cast<int>(need))
    return fault("slot_access", "the slot's access mark lacks what the operation does");
  return kFine;
}
// [Slot, `extra` values, chain...]; gives the place's type.
RowFault place(const RowContext& c, size_t extra, Access need, Type& type) {
  const Slot* s = slot_of(c);
  if (!s) return c.count() ? kKind : kCount;
  if (c.count() < 1 + extra) return kCount;
  for (size_t i = 1; i <= extra; i++)
    if (!c.is_value(i)) return kKind;
  if (!has_place(*s)) return fault("slot_class", "this slot's memory has no places");
  if (!chain_type(c.d, *s, c.operands.subspan(1 + extra), type))
    return fault("chain", "the chain does not fit the slot's type");
  return access(*s, need);
}
RowFault op_Load(const RowContext& c) {
  Type t;
  if (RowFault f = place(c, 0, Access::Read, t); f.rule) return f;
  if (c.o.result_count != 1) return kResults;
  return c.result() == t ? kFine : kTypes;
}
RowFault op_Store(const RowContext& c) {
  Type t;
  if (RowFault f = place(c, 1, Access::Write, t); f.rule) return f;
  if (c.o.result_count) return kResults;
  return c.type(1) == t ? kFine : kTypes;
}
RowFault byte_place(const RowContext& c, size_t count, size_t offset, Access need) {
  const Slot* s = slot_of(c);
  if (c.count() != count) return kCount;
  if (!s || !c.is_value(offset) || !c.is_value(count - 1)) return kKind;
  if (s->memory != MemoryClass::Global || !s->type.is_buffer() || !s->type.element().is_void())
    return fault("slot_class", "not a byte buffer");
  if (!index_type(c.type(offset))) return kTypes;
  return access(*s, need);
}
RowFault op_ByteLoad(const RowContext& c) {
  if (RowFault f = byte_place(c, 2, 1, Access::Read); f.rule) return f;
  if (c.o.result_count != 1) return kResults;
  return c.result().is_value() ? kFine : kTypes;
}
RowFault op_ByteStore(const RowContext& c) {
  if (RowFault f = byte_place(c, 3, 2, Access::Write); f.rule) return f;
  if (c.o.result_count) return kResults;
  return c.is_value(1) ? kFine : kKind;
}
RowFault query(const RowContext& c, size_t count, Type result, bool Slot::*mark) {
  const Slot* s = slot_of(c);
  if (c.count() != count) return kCount;
  if (!s) return kKind;
  if (s->memory != MemoryClass::Global || !s->type.is_buffer())
    return fault("slot_class", "not a buffer");
  if (!(s->*mark)) return fault("slot_access", "the slot's mark for this query is missing");
  if (c.o.result_count != 1) return kResults;
  return c.result() == result ? kFine : kTypes;
}
RowFault shape_BufferToUint(const RowContext& c) {
  return query(c, 1, Type::of(Scalar::UInt32), &Slot::length_used);
}
RowFault shape_BufferToUlong(const RowContext& c) {
  return query(c, 1, Type::of(Scalar::UInt64), &Slot::length_used);
}
RowFault shape_BufferExtentShape(const RowContext& c) {
  if (RowFault f = query(c, 2, Type::of(Scalar::UInt32), &Slot::extents_used); f.rule) return f;
  if (!c.operands[1].is_imm()) return kKind;
  return c.operands[1].index < 3 ? kFine : fault("immediate", "a buffer has at most 3 axes");
}

// ---- atomics: [Slot, values..., chain...]
// ----------------------------------------------------------
RowFault atomic(const RowContext& c, size_t extra, Access need, bool floats, bool gives) {
  Type t;
  if (RowFault f = place(c, extra, need, t); f.rule) return f;
  const Slot& s = *slot_of(c);
  if (s.memory != MemoryClass::Global && s.memory != MemoryClass::Shared)
    return fault("slot_class", "atomics reach buffers and shared memory only");
  if (!s.atomics) return fault("slot_access", "the slot's mark for atomics is missing");
  if (!t.is_scalar() || t.size() < 4 || !(t.is_integer() || (floats && t.is_float())))
    return kTypes;
  for (size_t i = 1; i <= extra; i++)
    if (c.type(i) != t) return kTypes;
  if (c.o.result_count != (gives ? 1 : 0)) return kResults;
  return !gives || c.result() == t ? kFine : kTypes;
}
RowFault shape_AtomicLoadShape(const RowContext& c) {
  return atomic(c, 0, Access::Read, true, true);
}
RowFault shape_AtomicStoreShape(const RowContext& c) {
  return atomic(c, 1, Access::Write, true, false);
}
RowFault shape_AtomicNumber(const RowContext& c) {
  return atomic(c, 1, Access::ReadWrite, true, true);
}
RowFault shape_AtomicInteger(const RowContext& c) {
  return atomic(c, 1, Access::ReadWrite, false, true);
}
RowFault shape_AtomicCompare(const RowContext& c) {
  return atomic(c, 2, Access::ReadWrite, true, true);
}

// ---- warps
// ---------------------------------------------------------------------------------------
bool any_lanes(Type t) { return t.is_arithmetic() || boolean(t); }
RowFault shape_WarpNumber(const RowContext& c) { return alike(c, 1, arithmetic); }
RowFault shape_WarpBits(const RowContext& c) { return alike(c, 1, bits); }
RowFault shape_WarpTest(const RowContext& c) {
  if (RowFault f = values(c, 1); f.rule) return f;
  return any_lanes(c.type(0)) && c.result() == bool_lanes(c.type(0)) ? kFine : kTypes;
}
RowFault vote(const RowContext& c, Type result) {
  if (RowFault f = values(c, 1); f.rule) return f;
  return c.type(0).is_bool() && c.result() == result ? kFine : kTypes;
}
RowFault shape_WarpVote(const RowContext& c) { return vote(c, Type::of(Scalar::Bool)); }
RowFault shape_WarpCountShape(const RowContext& c) { return vote(c, Type::of(Scalar::UInt32)); }
RowFault shape_WarpBallotShape(const RowContext& c) {
  return vote(c, Type::vector(Scalar::UInt32, 4));
}
RowFault shape_WarpReadShape(const RowContext& c) { return alike(c, 1, any_lanes); }
RowFault shape_WarpReadLaneShape(const RowContext& c) {
  if (RowFault f = values(c, 2); f.rule) return f;
  const bool good = any_lanes(c.type(0)) && c.result() == c.type(0);
  return good && c.type(1) == Type::of(Scalar::UInt32) ? kFine : kTypes;
}

// ---- values that only lowering makes
// ---------------------------------------------------------------
RowFault op_Convert(const RowContext& c) {
  if (RowFault f = values(c, 1); f.rule) return f;
  const Type a = c.type(0), r = c.result();
  return a.is_lanes() && r.is_lanes() && a.lanes() == r.lanes() ? kFine : kTypes;
}
RowFault op_Bitcast(const RowContext& c) {
  if (RowFault f = values(c, 1); f.rule) return f;
  const Type a = c.type(0), r = c.result();
  if (!a.is_lanes() || !r.is_lanes() || boolean(a) || boolean(r)) return kTypes;
  const bool good = a.lanes() * scalar_size(a.scalar()) == r.lanes() * scalar_size(r.scalar());
  return good ? kFine : kTypes;
}
RowFault op_Construct(const RowContext& c) {
  const Type r = c.result();
  if (c.o.result_count != 1) return kResults;
  if (!r.is_vector() && !r.is_matrix() && !r.is_array() && !r.is_struct()) return kTypes;
  if (c.count() != r.count()) return kCount;
  for (size_t i = 0; i < c.count(); i++) {
    if (!c.is_value(i)) return kKind;
    if (c.type(i) != r.component(i)) return kTypes;
  }
  return kFine;
}
bool imm_path(const RowContext& c, size_t from, Type& t) {
  for (size_t i = from; i < c.count(); i++) {
    if (!c.operands[i].is_imm() || t.is_scalar() || !t.is_value()) return false;
    if (c.operands[i].index >= t.count()) return false;
    t = t.component(c.operands[i].index);
  }
  return true;
}
RowFault op_Extract(const RowContext& c) {
  if (c.count() < 2) return kCount;
  if (!c.is_value(0)) return kKind;
  if (c.o.result_count != 1) return kResults;
  Type t = c.type(0);
  if (!imm_path(c, 1, t)) return fault("chain", "the path does not fit the aggregate");
  return t == c.result() ? kFine : kTypes;
}
RowFault op_Insert(const RowContext& c) {
  if (c.count() < 3) return kCount;
  if (!c.is_value(0) || !c.is_value(1)) return kKind;
  if (c.o.result_count != 1) return kResults;
  Type t = c.type(0);
  if (!imm_path(c, 2, t)) return fault("chain", "the path does not fit the aggregate");
  return t == c.type(1) && c.result() == c.type(0) ? kFine : kTypes;
}
RowFault op_Shuffle(const RowContext& c) {
  if (c.count() < 3) return kCount;
  if (!c.is_value(0)) return kKind;
  if (c.o.result_count != 1) return kResults;
  const Type a = c.type(0), r = c.result();
  if (!a.is_vector() || !r.is_vector() || a.scalar() != r.scalar()) return kTypes;
  if (r.lanes() != c.count() - 1) return kCount;
  for (size_t i = 1; i < c.count(); i++) {
    if (!c.operands[i].is_imm()) return kKind;
    if (c.operands[i].index >= a.lanes()) return fault("immediate", "the vector has no such lane");
  }
  return kFine;
}
RowFault op_DivUnchecked(const RowContext& c) { return alike(c, 2, integer); }
RowFault op_RemUnchecked(const RowContext& c) {
  return alike(c, 2, arithmetic);
}  // floats: C's fmod
RowFault op_ShlUnchecked(const RowContext& c) { return alike(c, 2, integer); }
RowFault op_ShrUnchecked(const RowContext& c) { return alike(c, 2, integer); }
RowFault op_ConvertUnchecked(const RowContext& c) {
  if (RowFault f = op_Convert(c); f.rule) return f;
  return c.type(0).is_float() && c.result().is_integer() ? kFine : kTypes;
}

bool is_lanes_of(Type t, Scalar s) { return t.is_lanes() && t.scalar() == s; }
RowFault op_UnpackHalf(const RowContext& c) {
  if (RowFault f = op_Convert(c); f.rule) return f;
  const bool bits = is_lanes_of(c.type(0), Scalar::UInt16);
  return bits && is_lanes_of(c.result(), Scalar::Float32) ? kFine : kTypes;
}
RowFault op_PackHalf(const RowContext& c) {
  if (RowFault f = op_Convert(c); f.rule) return f;
  const bool real = is_lanes_of(c.type(0), Scalar::Float32);
  return real && is_lanes_of(c.result(), Scalar::UInt16) ? kFine : kTypes;
}

// ---- reports (verify_reports.cpp)
// -----------------------------------------------------------------------------------------------
constexpr Check shape_TrapShape = check_report;

// ---- control: operand kinds here; what bodies pass is checked where they end
// -----------------------
RowFault body_without_parameters(const RowContext& c, Operand x) {
  if (x.kind != Operand::Kind::Body) return kKind;
  return c.d.body(x.body()).params.empty() ? kFine
                                           : fault("carried", "only a loop's body has parameters");
}
RowFault op_If(const RowContext& c) {
  if (c.count() != 3) return kCount;
  if (!c.is_value(0)) return kKind;
  if (!c.type(0).is_bool()) return kTypes;
  if (RowFault f = body_without_parameters(c, c.operands[1]); f.rule) return f;
  return body_without_parameters(c, c.operands[2]);
}
RowFault op_Switch(const RowContext& c) {
  if (c.count() < 2) return kCount;
  if (!c.is_value(0)) return kKind;
  if (!index_type(c.type(0))) return kTypes;
  if (RowFault f = body_without_parameters(c, c.operands[1]); f.rule) return f;
  if (c.count() > 2 && c.operands[c.count() - 1].kind != Operand::Kind::Body) return kKind;
  bool constants = false;
  for (size_t i = 2; i < c.count(); i++) {
    if (c.is_value(i)) {
      if (!c.d.is_constant(c.operands[i].value()))
        return fault("operand_kind", "a case is no constant");
      if (c.type(i) != c.type(0)) return kTypes;
      constants = true;
    } else {
      if (!constants) return fault("operand_kind", "a case without constants");
      if (RowFault f = body_without_parameters(c, c.operands[i]); f.rule) return f;
      constants = false;
    }
  }
  return kFine;
}
RowFault op_Loop(const RowContext& c) {
  if (!c.count()) return kCount;
  if (c.operands[0].kind != Operand::Kind::Body) return kKind;
  const auto& params = c.d.body(c.operands[0].body()).params;
  if (c.count() - 1 != params.size())
    return fault("carried", "initial values and parameters differ in number");
  for (size_t i = 0; i < params.size(); i++) {
    if (!c.is_value(i + 1)) return kKind;
    if (c.type(i + 1) != c.d.type_of(params[i]))
      return fault("carried", "an initial value's type is not its parameter's");
  }
  return kFine;
}
RowFault called(const RowContext& c, bool external) {
  if (!c.count()) return kCount;
  if (c.operands[0].kind != Operand::Kind::Function) return kKind;
  if (c.operands[0].index == 0) return fault("call", "the kernel itself is called");
  const Function& f = c.d.functions[c.operands[0].index];
  if ((f.external != Function::kNotExternal) != external)
    return fault("external", "External calls external functions, Call the others");
  if (c.count() - 1 != f.params.size()) return kCount;
  for (size_t i = 0; i < f.params.size(); i++) {
    if (!c.is_value(i + 1)) return kKind;
    if (c.type(i + 1) != c.d.type_of(f.params[i])) return kTypes;
  }
  if (c.o.result_count != f.results.size()) return kResults;
  for (uint32_t i = 0; i < c.o.result_count; i++)
    if (c.d.type_of(c.d.result(c.o, i)) != f.results[i]) return kTypes;
  return kFine;
}
RowFault op_Call(const RowContext& c) { return called(c, false); }
RowFault op_External(const RowContext& c) {
  if (RowFault f = called(c, true); f.rule) return f;
  const Function& f = c.d.functions[c.operands[0].index];
  if (f.external >= c.d.externals.size()) return fault("external", "no such external function");
  const ExternalFunction& e = c.d.externals[f.external];
  size_t values = 0, results = e.returns;
  for (const ExternalFunction::Parameter& p : e.parameters) {
    if (p.kind == ExternalFunction::Kind::Buffer) {
      if (p.index >= c.d.slots.size() || c.d.slots[p.index].memory != MemoryClass::Global)
        return fault("external", "a buffer parameter is no buffer");
      continue;
    }
    if (p.index != values++) return fault("external", "parameters out of order");
    const bool written = static_cast<int>(p.access) & static_cast<int>(Access::Write);
    results += p.kind == ExternalFunction::Kind::Reference && written;
  }
  const bool fits = values == f.params.size() && results == f.results.size();
  return fits ? kFine : fault("external", "parameters or results are not the function's");
}
RowFault terminator(const RowContext& c) {
  for (size_t i = 0; i < c.count(); i++)
    if (!c.is_value(i)) return kKind;
  return c.o.result_count ? kResults : kFine;
}
constexpr Check op_Yield = terminator, op_Break = terminator, op_Continue = terminator,
                op_Return = terminator;

// ---- the tables
// ------------------------------------------------------------------------------------
constexpr Check kShapes[] = {
#define SHAPE(name, doc) shape_##name,
#include "ops/shape.def"
#undef SHAPE
};
struct KernelRow {
  Op op;
  Check check;
};
constexpr KernelRow kKernelRows[] = {
    {Op::Convert, op_Convert},
    {Op::Bitcast, op_Bitcast},
    {Op::Construct, op_Construct},
    {Op::Extract, op_Extract},
    {Op::Insert, op_Insert},
    {Op::Shuffle, op_Shuffle},
    {Op::DivUnchecked, op_DivUnchecked},
    {Op::RemUnchecked, op_RemUnchecked},
    {Op::ShlUnchecked, op_ShlUnchecked},
    {Op::ShrUnchecked, op_ShrUnchecked},
    {Op::ConvertUnchecked, op_ConvertUnchecked},
    {Op::UnpackHalf, op_UnpackHalf},
    {Op::PackHalf, op_PackHalf},
    {Op::Load, op_Load},
    {Op::Store, op_Store},
    {Op::ByteLoad, op_ByteLoad},
    {Op::ByteStore, op_ByteStore},
    {Op::Assert, check_report},
    {Op::Print, check_report},
    {Op::Bounds, check_report},
    {Op::If, op_If},
    {Op::Switch, op_Switch},
    {Op::Loop, op_Loop},
    {Op::Call, op_Call},
    {Op::External, op_External},
    {Op::Yield, op_Yield},
    {Op::Break, op_Break},
    {Op::Continue, op_Continue},
    {Op::Return, op_Return},
};
struct RowChecks {
  std::array<Check, kOpCount> check{};
  std::array<bool, kOpCount> present{};
  constexpr void set(Op op, Check c) {
    check[static_cast<size_t>(op)] = c;
    present[static_cast<size_t>(op)] = true;
  }
};
constexpr RowChecks kRowChecks = [] {
  RowChecks rows;
#define OP(name, python, category, shape, usage, level, sync, doc) \
  if (OpLevel::level == OpLevel::Ast)                              \
    rows.set(Op::name, ast_only);                                  \
  else if (Shape::shape != Shape::KernelOnly)                      \
    rows.set(Op::name, kShapes[static_cast<size_t>(Shape::shape)]);
#define REFUSED(name, python, category, usage, reason, doc) rows.set(Op::name, ast_only);
#include "ops/op.def"
#undef OP
#undef REFUSED
  for (const KernelRow& r : kKernelRows) rows.set(r.op, r.check);
  return rows;
}();
#define OP(name, python, category, shape, usage, level, sync, doc) \
  static_assert(kRowChecks.present[static_cast<size_t>(Op::name)], \
                "verify() has no check of " #name);
#define REFUSED(name, python, category, usage, reason, doc)
#include "ops/op.def"
#undef OP
#undef REFUSED

}  // namespace

bool chain_type(const KernelDescriptor& d, const Slot& s, std::span<const Operand> chain,
                Type& out) {
  Type t = s.type;
  size_t i = 0;
  if (s.memory == MemoryClass::Global) {
    if (!t.is_buffer() || t.packed() || t.element().is_void() || chain.empty()) return false;
    if (chain[0].is_value() ? !index_type(d.type_of(chain[0].value())) : !chain[0].is_imm())
      return false;
    t = t.element();
    i = 1;
  }
  for (; i < chain.size(); i++) {
    if (t.is_scalar() || !t.is_value()) return false;
    if (chain[i].is_imm()) {
      if (chain[i].index >= t.count()) return false;
      t = t.component(chain[i].index);
    } else {
      // A run-time index cannot choose a member: their types differ.
      if (!chain[i].is_value() || t.is_struct() || !index_type(d.type_of(chain[i].value())))
        return false;
      t = t.element();
    }
  }
  out = t;
  return t.is_value();
}

RowFault check_row(const RowContext& c) { return kRowChecks.check[static_cast<size_t>(c.o.op)](c); }

}  // namespace lcpy
