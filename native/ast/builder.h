// FunctionBuilder: the one way to make AST. It owns its nodes; everything else holds ids. Types are
// decided and checked here, at construction, by the language's rules: weak literals adapt, scalars
// spread, exact conversions are inserted, and a wrong operand is a CompileError with its span.
//
// A node belongs to the builder that made it; an id from another builder is refused.
#pragma once
#include <array>
#include <cstddef>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/diagnostic.h"
#include "base/error.h"
#include "base/ids.h"
#include "base/span.h"
#include "ops/op.h"
#include "types/type.h"

namespace lcpy::ast {

// An id that remembers its builder, so that a node of another builder is refused. One made from a
// bare number (owner 0) is taken on trust: bindings that keep numbers check the builder themselves.
template <class Tag>
struct OwnedId {
  static constexpr uint32_t kNone = 0xffffffffu;
  uint32_t value = kNone;
  uint32_t owner = 0;

  constexpr OwnedId() = default;
  constexpr explicit OwnedId(uint32_t v, uint32_t o = 0) : value(v), owner(o) {}
  constexpr bool valid() const { return value != kNone; }
  constexpr explicit operator bool() const { return valid(); }
  friend constexpr bool operator==(OwnedId a, OwnedId b) { return a.value == b.value; }
  friend constexpr bool operator!=(OwnedId a, OwnedId b) { return a.value != b.value; }
  friend constexpr bool operator<(OwnedId a, OwnedId b) { return a.value < b.value; }
};

using ExprId = OwnedId<struct ExprTag>;
using VariableId = OwnedId<struct VariableTag>;
using StmtId = Id<struct StmtTag>;
using ScopeId = Id<struct ScopeTag>;

enum class ExprKind : uint8_t {
#define EXPR(name, doc) name,
#define STMT(name, doc)
#include "ast/node.def"
#undef EXPR
#undef STMT
};
enum class StmtKind : uint8_t {
#define EXPR(name, doc)
#define STMT(name, doc) name,
#include "ast/node.def"
#undef EXPR
#undef STMT
};

enum class Usage : uint8_t { None = 0, Read = 1, Write = 2, ReadWrite = 3 };

enum class VariableKind : uint8_t {
  Local,
  Shared,
  Argument,   // by value: kernels and callables
  Reference,  // callables only
  Resource,   // buffer, texture, bindless array, accel argument
};

struct Variable {
  VariableKind kind{};
  Type type;
  std::string name;  // the user's
  Span span;
  Usage usage = Usage::None;  // of this builder's own body, calls included
};

// What makes a callable external: its text in languages that targets compile, under its own name,
// and what that text does with each parameter.
struct External {
  std::vector<std::pair<std::string, std::string>> texts;  // language ("opencl", "cuda"), source
  std::vector<Usage> usages;                               // by argument
  bool has_body = false;  // the statements serve targets without a text
};

// A literal's value before it has a type: Python's numbers.
enum class WeakKind : uint8_t { None, Bool, Int, Float };

class FunctionBuilder;

struct ExprNode {
  ExprKind kind{};
  WeakKind weak = WeakKind::None;  // Literal only; type is then the stand-alone type
  Op op{};                         // Unary, Binary, Call
  uint8_t count = 0;               // Swizzle: lanes, 1 gives a scalar
  uint8_t usage = 0;               // bits already forwarded
  uint16_t depth = 1;              // longest way down; at most kMaxExprDepth, so recursion is safe
  Type type;                       // void for calls that give nothing
  Span span;
  uint32_t a = 0xffffffffu, b = 0xffffffffu, c = 0xffffffffu;  // child expressions by kind
  // Ref: variable; Member: member; Swizzle: code; Constant: data offset; CustomCall and
  // ExternalCall: callee.
  uint32_t index = 0;
  uint32_t args_begin = 0, args_count = 0;  // into args(): Access and calls
  bool is_unsigned = false;                 // weak Int literal beyond int64
  // Literal: the value. Signed ints and weak ints as int64, unsigned ones and bools as uint64,
  // floats already rounded to the type.
  union Payload {
    int64_t i;
    uint64_t u;
    double f;
  } value{};
};

struct StmtNode {
  StmtKind kind{};
  uint8_t hint = 0;  // If, Switch: 0 none, 1 flatten, 2 branch, 3 force case
  Span span;
  ExprId a, b, c;                             // by kind, as node.def says
  VariableId variable;                        // For
  ScopeId scope, other;                       // then/body/cases; else/on_procedural
  uint32_t extra_begin = 0, extra_count = 0;  // SwitchCase literals and Print values, into args()
  uint32_t text = 0;  // Comment, Print format, Assert message, Suspend name: see text_of
};

struct Scope {
  std::vector<StmtId> statements;
};

inline constexpr uint16_t kMaxExprDepth = 1000;
inline constexpr size_t kMaxScopeDepth = 64;
inline constexpr uint32_t kMaxBlockThreads = 1024;

class FunctionBuilder : public std::enable_shared_from_this<FunctionBuilder> {
 public:
  enum class Kind : uint8_t { Kernel, Callable };
  static std::shared_ptr<FunctionBuilder> create(Kind kind, std::string name, Span span);
  ~FunctionBuilder();

  // ---- declarations ----
  VariableId argument(Type type, std::string name, Span span);   // by value, or a resource type
  VariableId reference(Type type, std::string name, Span span);  // callables only
  VariableId local(Type type, std::string name, Span span);
  VariableId shared(Type type, std::string name, Span span);  // kernels, outermost scope
  void set_block_size(std::array<uint32_t, 3> size, Span span);
  void set_return_type(Type type);  // callables that declare one; else the first return decides
  void set_external(External external);  // callables, once they have their parameters

  // ---- expressions ----
  ExprId weak_bool(bool v, Span span);
  ExprId weak_int(int64_t v, Span span);
  ExprId weak_uint(uint64_t v, Span span);  // beyond int64
  ExprId weak_float(double v, Span span);
  ExprId literal(Type scalar, const void* bytes, Span span);
  ExprId constant(Type type, std::span<const std::byte> bytes, Span span);  // memory layout
  ExprId ref(VariableId v, Span span);
  ExprId unary(Op op, ExprId a, Span span);
  ExprId binary(Op op, ExprId a, ExprId b, Span span);
  ExprId conditional(ExprId cond, ExprId if_true, ExprId if_false, Span span);
  ExprId member(ExprId a, uint32_t index, Span span);
  ExprId swizzle(ExprId a, std::string_view lanes, Span span);  // "xyz", "rgba"
  ExprId access(ExprId a, std::span<const ExprId> indices, Span span);
  // Builtin by its row. `result` only for rows whose shape asks for the call's type.
  ExprId call(Op op, std::span<const ExprId> args, Span span, Type result = {});
  ExprId call(const std::shared_ptr<FunctionBuilder>& callee, std::span<const ExprId> args,
              Span span);
  ExprId make(Type type, std::span<const ExprId> args, Span span);  // T(...) of any value type
  ExprId from_rows(Type matrix, std::span<const ExprId> rows, Span span);
  ExprId cast(Type type, ExprId a, Span span);  // T(x): explicit conversion
  ExprId bitcast(Type type, ExprId a, Span span);
  // Gives a weak literal its stand-alone type; other expressions come back unchanged.
  ExprId settle(ExprId a);
  // The conversion that assignments, arguments and returns do by themselves, or CompileError.
  // `what` names the place: "argument 'x'", "variable 'y'".
  ExprId convert(ExprId a, Type type, std::string_view what, Span span);
  // The type that a `range` over these bounds, or a conditional between these values, has. Weak
  // literals adapt to the others.
  Type common_type(std::span<const ExprId> values, std::string_view what, Span span);
  // Evaluates a once into a fresh local when it is not a literal or a plain variable.
  ExprId once(ExprId a, std::string_view name, Span span);
  bool is_place(ExprId a) const;  // can stand left of an assignment

  // ---- statements, appended to the current scope ----
  StmtId assign(ExprId place, ExprId value, Span span);
  StmtId expression(ExprId a, Span span);
  StmtId break_(Span span);
  StmtId continue_(Span span);
  StmtId return_(std::optional<ExprId> value, Span span);
  StmtId if_(ExprId condition, Span span, uint8_t hint = 0);
  StmtId loop(Span span);
  StmtId for_(VariableId variable, ExprId begin, ExprId end, ExprId step, Span span);
  StmtId switch_(ExprId value, Span span, uint8_t hint = 0);
  StmtId case_(std::span<const ExprId> literals, Span span);  // inside a switch's scope
  StmtId default_(Span span);
  StmtId comment(std::string text, Span span);
  // The format is the host's own: it comes back with the values of each line.
  StmtId print(std::string format, std::span<const ExprId> values, Span span);
  StmtId assert_(ExprId condition, std::string message, Span span);
  // From now on the hash includes where the function stands: equal functions of different places
  // are then two, since what they report names a line. Printing and trapping turn it on.
  void keep_place() { keeps_place_ = true; }
  void push_scope(ScopeId scope);
  void pop_scope();
  ScopeId body() const { return ScopeId(0u); }

  // Ends construction: checks what only the whole function can tell, computes hash and usages.
  // Later calls of a construction method are refused.
  void finish();
  bool finished() const { return finished_; }
  // Whether it, or what it calls, has a print, an assert or a trap.
  bool reports() const { return reports_; }

  // ---- reading ----
  Kind kind() const { return kind_; }
  const std::string& name() const { return name_; }
  Span span() const { return span_; }
  Type return_type() const { return return_type_; }
  std::array<uint32_t, 3> block_size() const { return block_size_; }
  std::span<const VariableId> arguments() const { return arguments_; }
  const Variable& variable(VariableId v) const { return variables_[v.value]; }
  std::span<const Variable> variables() const { return variables_; }
  const ExprNode& expr(ExprId e) const { return exprs_[e.value]; }
  const StmtNode& stmt(StmtId s) const { return stmts_[s.value]; }
  const Scope& scope(ScopeId s) const { return scopes_[s.value]; }
  std::span<const ExprId> args(uint32_t begin, uint32_t count) const {
    return {args_.data() + begin, count};
  }
  std::span<const ExprId> args_of(const ExprNode& e) const {
    return args(e.args_begin, e.args_count);
  }
  std::span<const std::byte> constant_bytes(const ExprNode& e) const;
  const std::vector<std::shared_ptr<FunctionBuilder>>& callees() const { return callees_; }
  const External* external() const { return external_ ? &*external_ : nullptr; }
  uint64_t hash() const;  // of a finished function: structure only, no names and no spans
  void assume_hash(uint64_t hash) { hash_ = hash; }  // for tests of functions whose hashes collide
  // A finished function of its own with only the nodes, variables and constants that are used,
  // numbered as they are met; equal hash, same callees.
  std::shared_ptr<FunctionBuilder> copy() const;
  std::string json() const;  // the whole graph, for people and tools
  std::string text() const;  // readable listing
  size_t expr_count() const { return exprs_.size(); }
  const std::string& text_of(const StmtNode& s) const { return texts_[s.text]; }
  // Not errors, yet not what the author can have meant.
  const std::vector<Diagnostic>& warnings() const { return warnings_; }

 private:
  friend struct Build;  // the parts of the implementation, one a chapter (ast/build.h)
  friend struct Copier;
  FunctionBuilder(Kind kind, std::string name, Span span);

  struct OpenScope {
    ScopeId scope;
    StmtId owner;  // the statement it belongs to; none for the body
  };

  Kind kind_;
  uint32_t owner_;  // of the ids made here
  std::string name_;
  Span span_;
  Type return_type_;
  bool return_known_ = false;
  bool finished_ = false, reports_ = false, keeps_place_ = false;
  uint64_t hash_ = 0;
  std::array<uint32_t, 3> block_size_{256, 1, 1};
  std::vector<Variable> variables_;
  std::vector<VariableId> arguments_;
  std::vector<ExprNode> exprs_;
  std::vector<StmtNode> stmts_;
  std::vector<Scope> scopes_;
  std::vector<StmtId> scope_owner_;
  std::vector<OpenScope> stack_;
  std::vector<ExprId> args_;
  std::vector<std::byte> constant_data_;
  std::vector<std::string> texts_{1};
  std::vector<Diagnostic> warnings_;
  std::vector<std::shared_ptr<FunctionBuilder>> callees_;
  std::optional<External> external_;
};

// Whether two finished functions are one: structure only, no names and no spans.
bool equal(const FunctionBuilder& a, const FunctionBuilder& b);

}  // namespace lcpy::ast

template <class Tag>
struct std::hash<lcpy::ast::OwnedId<Tag>> {
  size_t operator()(lcpy::ast::OwnedId<Tag> id) const noexcept {
    return id.value * 0x9e3779b97f4a7c15ull;
  }
};
