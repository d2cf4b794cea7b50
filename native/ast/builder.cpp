// Node storage, declarations, and the public construction methods that only check and delegate.
#include "ast/builder.h"

#include <atomic>
#include <cstring>

#include "ast/build.h"
#include "types/spelling.h"

namespace lcpy::ast {
namespace {

uint32_t next_owner() {
  static std::atomic<uint32_t> next{1};
  return next.fetch_add(1, std::memory_order_relaxed);
}

void need_value(Type type, std::string_view what, Span span) {
  if (!type.is_value()) {
    fail(Diag::declaration_type, span, {what, type_spelling(type), ""});
  }
}

}  // namespace

std::shared_ptr<FunctionBuilder> FunctionBuilder::create(Kind kind, std::string name, Span span) {
  return std::shared_ptr<FunctionBuilder>(new FunctionBuilder(kind, std::move(name), span));
}

FunctionBuilder::FunctionBuilder(Kind kind, std::string name, Span span)
    : kind_(kind), owner_(next_owner()), name_(std::move(name)), span_(span) {
  exprs_.reserve(64);
  args_.reserve(32);
  scopes_.emplace_back();
  stack_.push_back({ScopeId(0u), StmtId()});
  scope_owner_.push_back(StmtId());
}

FunctionBuilder::~FunctionBuilder() = default;

// ---- nodes ----

void Build::check_open() const {
  if (f.finished_) fail(Diag::function_finished, f.span_, {f.name_});
}

void Build::check(ExprId e, Span span) const {
  bool ours = e.owner == 0 || e.owner == f.owner_;
  if (!ours || e.value >= f.exprs_.size()) fail(Diag::foreign_node, span);
}

ExprId Build::add(ExprNode n) {
  uint16_t depth = 0;
  auto below = [&](uint32_t child) {
    if (child < f.exprs_.size()) depth = std::max(depth, f.exprs_[child].depth);
  };
  below(n.a);
  below(n.b);
  below(n.c);
  for (uint32_t i = 0; i < n.args_count; ++i) below(f.args_[n.args_begin + i].value);
  if (depth >= kMaxExprDepth) {
    fail(Diag::expression_too_deep, n.span, {std::to_string(kMaxExprDepth)});
  }
  n.depth = static_cast<uint16_t>(depth + 1);
  f.exprs_.push_back(n);
  return id(static_cast<uint32_t>(f.exprs_.size() - 1));
}

StmtId Build::add(StmtNode n) {
  const StmtNode* owner = owner_of_scope(f.stack_.size() - 1);
  bool in_switch = owner && owner->kind == StmtKind::Switch;
  bool is_case = n.kind == StmtKind::SwitchCase || n.kind == StmtKind::SwitchDefault;
  if (in_switch != is_case && n.kind != StmtKind::Comment) {
    fail(Diag::case_place, n.span,
         {in_switch ? "a statement stands in a match outside its cases"
                    : "a case stands outside a match"});
  }
  StmtId id(f.stmts_.size());
  f.stmts_.push_back(n);
  f.scopes_[f.stack_.back().scope.value].statements.push_back(id);
  return id;
}

uint32_t Build::add_args(std::span<const ExprId> args) {
  auto begin = static_cast<uint32_t>(f.args_.size());
  for (ExprId e : args) f.args_.push_back(id(e.value));
  return begin;
}

uint32_t Build::add_text(std::string text) {
  f.texts_.push_back(std::move(text));
  return static_cast<uint32_t>(f.texts_.size() - 1);
}

ScopeId Build::add_scope(StmtId owner) {
  f.scopes_.emplace_back();
  f.scope_owner_.push_back(owner);
  return ScopeId(f.scopes_.size() - 1);
}

const StmtNode* Build::owner_of_scope(size_t depth) const {
  StmtId owner = f.stack_[depth].owner;
  return owner ? &f.stmts_[owner.value] : nullptr;
}

ExprId Build::unary_node(Op op, ExprId a, Type type, Span span) {
  read(a);
  ExprNode n;
  n.kind = ExprKind::Unary;
  n.op = op;
  n.type = type;
  n.span = span;
  n.a = a.value;
  return add(n);
}

ExprId Build::binary_node(Op op, ExprId a, ExprId b, Type type, Span span) {
  read(a);
  read(b);
  ExprNode n;
  n.kind = ExprKind::Binary;
  n.op = op;
  n.type = type;
  n.span = span;
  n.a = a.value;
  n.b = b.value;
  return add(n);
}

ExprId Build::call_node(Op op, std::span<const ExprId> args, Type type, Span span) {
  mark_call(op, args);
  ExprNode n;
  n.kind = ExprKind::Call;
  n.op = op;
  n.type = type;
  n.span = span;
  n.args_begin = add_args(args);
  n.args_count = static_cast<uint32_t>(args.size());
  return add(n);
}

ExprId Build::op_node(Op op, std::span<const ExprId> args, Type type, Span span) {
  if (op_row(op).category == OpCategory::Operator) {
    if (args.size() == 1) return unary_node(op, args[0], type, span);
    if (args.size() == 2) return binary_node(op, args[0], args[1], type, span);
  }
  return call_node(op, args, type, span);
}

ExprId Build::cast_node(Type to, ExprId a, Span span) {
  read(a);
  ExprNode n;
  n.kind = ExprKind::Cast;
  n.type = to;
  n.span = span;
  n.a = a.value;
  return add(n);
}

ExprId Build::splat(ExprId scalar, uint32_t lanes, Span span) {
  Type to = Type::vector(scalar_of(type(scalar)), lanes);
  return call_node(Op::Make, {&scalar, 1}, to, span);
}

// ---- declarations ----

VariableId FunctionBuilder::argument(Type type, std::string name, Span span) {
  Build(*this).check_open();
  bool resource = type.is_resource();
  if (!resource) need_value(type, "a parameter", span);
  variables_.push_back({resource ? VariableKind::Resource : VariableKind::Argument, type,
                        std::move(name), span, Usage::None});
  VariableId id(static_cast<uint32_t>(variables_.size() - 1), owner_);
  arguments_.push_back(id);
  return id;
}

VariableId FunctionBuilder::reference(Type type, std::string name, Span span) {
  Build(*this).check_open();
  if (kind_ == Kind::Kernel) {
    fail(Diag::declaration_place, span,
         {"a reference parameter of a kernel", "pass a buffer, or the value"});
  }
  need_value(type, "a reference", span);
  variables_.push_back({VariableKind::Reference, type, std::move(name), span, Usage::None});
  VariableId id(static_cast<uint32_t>(variables_.size() - 1), owner_);
  arguments_.push_back(id);
  return id;
}

VariableId FunctionBuilder::local(Type type, std::string name, Span span) {
  Build(*this).check_open();
  need_value(type, "a variable", span);
  variables_.push_back({VariableKind::Local, type, std::move(name), span, Usage::None});
  return VariableId(static_cast<uint32_t>(variables_.size() - 1), owner_);
}

VariableId FunctionBuilder::shared(Type type, std::string name, Span span) {
  Build(*this).check_open();
  if (kind_ != Kind::Kernel || stack_.size() != 1) {
    fail(Diag::declaration_place, span,
         {"shared memory", "declare it at the top level of a kernel and hand it on as lc.Ref"});
  }
  need_value(type, "shared memory", span);
  variables_.push_back({VariableKind::Shared, type, std::move(name), span, Usage::None});
  return VariableId(static_cast<uint32_t>(variables_.size() - 1), owner_);
}

void FunctionBuilder::set_block_size(std::array<uint32_t, 3> size, Span span) {
  Build(*this).check_open();
  uint64_t threads = 1;
  for (uint32_t n : size) threads = n > kMaxBlockThreads ? kMaxBlockThreads + 1 : threads * n;
  if (threads == 0 || threads > kMaxBlockThreads) {
    fail(Diag::block_size, span,
         {std::to_string(size[0]), std::to_string(size[1]), std::to_string(size[2])});
  }
  block_size_ = size;
}

void FunctionBuilder::set_return_type(Type type) {
  Build(*this).check_open();
  if (kind_ == Kind::Kernel && !type.is_void()) fail(Diag::kernel_returns, span_);
  if (!type.is_void()) need_value(type, "a result", span_);
  return_type_ = type;
  return_known_ = true;
}

// ---- expressions ----

ExprId FunctionBuilder::ref(VariableId v, Span span) {
  Build build(*this);
  build.check_open();
  bool ours = v.owner == 0 || v.owner == owner_;
  if (!ours || v.value >= variables_.size()) fail(Diag::foreign_node, span);
  ExprNode n;
  n.kind = ExprKind::Ref;
  n.type = variables_[v.value].type;
  n.span = span;
  n.index = v.value;
  return build.add(n);
}

ExprId FunctionBuilder::unary(Op op, ExprId a, Span span) { return call(op, {&a, 1}, span); }

ExprId FunctionBuilder::binary(Op op, ExprId a, ExprId b, Span span) {
  // Most nodes: two operands of one float or integer type, and an operation that keeps it.
  if (op >= Op::Add && op <= Op::Mul && !finished_) {
    Build build(*this);
    build.check(a, span);
    build.check(b, span);
    const ExprNode& left = exprs_[a.value];
    const ExprNode& right = exprs_[b.value];
    bool typed = left.weak == WeakKind::None && right.weak == WeakKind::None;
    if (typed && left.type == right.type && left.type.is_arithmetic()) {
      return build.binary_node(op, a, b, left.type, span);
    }
  }
  ExprId both[] = {a, b};
  return call(op, both, span);
}

ExprId FunctionBuilder::call(Op op, std::span<const ExprId> args, Span span, Type result) {
  Build build(*this);
  build.check_open();
  build.check(args, span);
  return build.apply(op, args, result, span);
}

ExprId FunctionBuilder::once(ExprId a, std::string_view name, Span span) {
  Build build(*this);
  build.check_open();
  build.check(a, span);
  const ExprNode& n = exprs_[a.value];
  bool plain = n.kind == ExprKind::Literal || n.kind == ExprKind::Constant ||
               n.kind == ExprKind::Ref || n.type.is_resource();
  if (plain) return a;
  if (n.type.is_void()) fail(Diag::no_value, span, {"a variable"});
  VariableId v = local(n.type, std::string(name), span);
  assign(ref(v, span), a, span);
  return ref(v, span);
}

std::span<const std::byte> FunctionBuilder::constant_bytes(const ExprNode& e) const {
  return {constant_data_.data() + e.index, static_cast<size_t>(e.type.size())};
}

uint64_t FunctionBuilder::hash() const {
  LCPY_CHECK(finished_);
  return hash_;
}

}  // namespace lcpy::ast
