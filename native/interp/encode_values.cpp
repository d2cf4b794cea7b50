// Instructions of value nodes: which form of the operation the kinds of its operands ask for.
#include "interp/encode.h"

namespace lcpy::interp {
namespace {

struct MaskRow {
  Fn (*fn)() = nullptr;
  bool known = false;  // sanitisers keep addresses from being compared while compiling
};
constexpr auto kMasks = [] {
  std::array<MaskRow, kOpCount> rows{};
  rows[static_cast<int>(Op::BitAnd)] = {&flow::mask_and, true};
  rows[static_cast<int>(Op::BitOr)] = {&flow::mask_or, true};
  rows[static_cast<int>(Op::BitXor)] = {&flow::mask_xor, true};
  rows[static_cast<int>(Op::NotEqual)] = {&flow::mask_xor, true};
  rows[static_cast<int>(Op::Equal)] = {&flow::mask_equal, true};
  rows[static_cast<int>(Op::Not)] = {&flow::mask_not, true};
  rows[static_cast<int>(Op::BitNot)] = {&flow::mask_not, true};
  return rows;
}();
// Every operation of elementwise.def that takes bools has its row.
#define LCPY_TAKES_BOOL_Number false
#define LCPY_TAKES_BOOL_Int false
#define LCPY_TAKES_BOOL_Float false
#define LCPY_TAKES_BOOL_Bool true
#define LCPY_TAKES_BOOL_Bits true
#define LCPY_TAKES_BOOL_NumberBool true
#define ELEMENTWISE(op, operands, types, result)                                    \
  static_assert(!LCPY_TAKES_BOOL_##types || kMasks[static_cast<int>(Op::op)].known, \
                "no way to compute " #op " on lane bits");
#include "kernel/elementwise.def"
#undef ELEMENTWISE

}  // namespace

// Kinds of b and c decide the form; a is a row.
void Encoder::product(const Node& n, uint32_t index) {
  const uint32_t bytes = scalar_size(n.type);
  const bool b_cell = kind(n.b) == Kind::Uniform, c_cell = kind(n.c) == Kind::Uniform;
  const Form form = b_cell   ? (c_cell ? Form::Cells : Form::CellRow)
                    : c_cell ? Form::RowCell
                             : Form::Rows;
  const uint32_t a = as_row(n.a, bytes);
  const uint32_t b = b_cell ? place(n.b) : as_row(n.b, bytes);
  const uint32_t c = c_cell ? place(n.c) : as_row(n.c, bytes);
  release(index);
  const int how = static_cast<int>(n.joined) - static_cast<int>(Joined::MulAdd);
  put(loops_.product[how][n.type == Scalar::Float64 ? 1 : 0][static_cast<int>(form)], define(n.d),
      a, b, c);
}

void Encoder::element(const Node& n, uint32_t index) {
  if (n.joined != Joined::No) return product(n, index);
  const auto& forms = loops_.ops[static_cast<int>(n.op)][static_cast<int>(n.type)];
  const auto fn = [&](Form f) { return forms[static_cast<int>(f)]; };
  const uint32_t bytes = scalar_size(n.type);
  const auto cell_at = [&](ScalarId s) { return s == kNone ? 0 : place(s); };
  if (fn(Form::Cells) == nullptr)
    throw BugError("the interpreter has no " + std::string(op_row(n.op).name) + " of " +
                   std::string(scalar_name(n.type)));
  // Linear scalars keep their kind through additions alone, and those work on the first lane.
  bool cells = true;
  for (ScalarId s : {n.a, n.b, n.c}) cells &= s == kNone || kind(s) == Kind::Uniform;
  if (cells || kind(n.d) == Kind::Linear) {
    const uint32_t a = place(n.a), b = cell_at(n.b), c = cell_at(n.c);
    release(index);
    put(fn(Form::Cells), define(n.d), a, b, c);
    return;
  }
  Form form = Form::Rows;
  if (n.b != kNone && n.c == kNone) {
    if (kind(n.b) == Kind::Uniform && fn(Form::RowCell) != nullptr)
      form = Form::RowCell;
    else if (kind(n.a) == Kind::Uniform && fn(Form::CellRow) != nullptr)
      form = Form::CellRow;
  }
  const uint32_t a = form == Form::CellRow ? place(n.a) : as_row(n.a, bytes);
  const uint32_t b = n.b == kNone ? 0 : form == Form::RowCell ? place(n.b) : as_row(n.b, bytes);
  const uint32_t c = n.c == kNone ? 0 : as_row(n.c, bytes);
  release(index);
  put(fn(form), define(n.d), a, b, c);
}

void Encoder::mask(const Node& n, uint32_t index) {
  const MaskRow& row = kMasks[static_cast<int>(n.op)];
  LCPY_CHECK(row.known);
  const uint32_t a = place(n.a), b = n.b == kNone ? 0 : place(n.b);
  release(index);
  put(row.fn(), define(n.d), a, b);
}

void Encoder::convert(const Node& n, uint32_t index) {
  const auto& fns = loops_.convert[static_cast<int>(n.type)][static_cast<int>(n.to)];
  const bool cells = kind(n.a) == Kind::Uniform;
  const uint32_t a =
      cells || n.type == Scalar::Bool ? place(n.a) : as_row(n.a, scalar_size(n.type));
  release(index);
  put(fns[cells ? 0 : 1], define(n.d), a);
}

void Encoder::choose(const Node& n, uint32_t index) {
  if (n.type == Scalar::Bool || kind(n.d) != Kind::Varying) {
    const uint32_t a = place(n.a), b = place(n.b), c = place(n.c);
    release(index);
    put(flow::mask_select(), define(n.d), a, b, c);
    return;
  }
  const uint32_t bytes = scalar_size(n.type);
  const bool b_cell = kind(n.b) == Kind::Uniform, c_cell = kind(n.c) == Kind::Uniform;
  const Form form = b_cell   ? (c_cell ? Form::Cells : Form::CellRow)
                    : c_cell ? Form::RowCell
                             : Form::Rows;
  const uint32_t a = place(n.a);
  const uint32_t b = b_cell ? place(n.b) : as_row(n.b, bytes);
  const uint32_t c = c_cell ? place(n.c) : as_row(n.c, bytes);
  release(index);
  put(loops_.select[size_index(bytes)][static_cast<int>(form)], define(n.d), a, b, c);
}

// Whether lanes that are off hold what must stay: those of the arm that ran before, or that left
// the loop or call before.
bool Encoder::blends(const Node& n) const {
  if (n.owner == kNone) return false;
  const Region& owner = code_.regions[n.owner];
  if (owner.type == Region::Type::If) {
    if (n.shared_result) return true;
    return owner.varying && owner.in_else && owner.then_yields;
  }
  if (n.leave == LeaveKind::Continue) return owner.divergent && owner.continues > 1;
  return owner.divergent;
}

// Numbers come as rows, bools and the ballot's word in cells.
void Encoder::warp(const Node& n, uint32_t index) {
  const bool row = n.type != Scalar::Bool;
  const uint32_t a = n.a == kNone ? 0 : row ? as_row(n.a, scalar_size(n.type)) : place(n.a);
  const uint32_t b = n.b == kNone ? 0 : n.op == Op::WarpBallot ? place(n.b) : as_row(n.b, 4);
  release(index);
  Instr& in = put(warp_fn(n.op, n.type), define(n.d), a, b);
  in.imm = code_.warp_size;
}

void Encoder::move(const Node& n, uint32_t index) {
  if (code_.scalars[n.d].last == index && code_.scalars[n.d].place == kNone)
    return;  // nobody reads it
  const bool blend = blends(n);
  const uint32_t bytes = scalar_size(n.type);
  if (kind(n.d) != Kind::Varying) {
    put(flow::copy_cell(), define(n.d), place(n.a));
  } else if (n.type == Scalar::Bool) {
    put(blend ? flow::mask_blend() : flow::copy_cell(), define(n.d), place(n.a));
  } else if (blend) {
    const uint32_t a = as_row(n.a, bytes);
    put(loops_.blend[size_index(bytes)], define(n.d), a);
  } else if (kind(n.a) == Kind::Varying) {
    put(loops_.copy[size_index(bytes)], define(n.d), place(n.a));
  } else if (kind(n.a) == Kind::Linear) {
    put(loops_.ramp[size_index(bytes) - 2], define(n.d), place(n.a));
  } else {
    put(loops_.spread[size_index(bytes)], define(n.d), place(n.a));
  }
}

}  // namespace lcpy::interp
