// The state of AST → descriptor, shared by its chapters: lower.cpp (kernels, functions, slots),
// scan.cpp (what must be known of a function beforehand), stmt.cpp and loop.cpp (control flow),
// expr.cpp, memory.cpp (places), call.cpp (builtins), callable.cpp (calls of callables).
//
// Variables that nothing indexes at run time are SSA values: `current_` holds each one's value at
// the point being lowered, none where it may be unassigned. A branch undoes its assignments when it
// ends, through a log, and the merge makes the results that differ; a loop takes what its body
// assigns as parameters.
#pragma once
#include <string>
#include <unordered_map>
#include <vector>

#include "ast/builder.h"
#include "kernel/descriptor.h"
#include "lower/inline_vector.h"
#include "lower/lower.h"

namespace lcpy::lower {

using ast::ExprId;
using ast::ExprKind;
using ast::ExprNode;
using ast::FunctionBuilder;
using ast::ScopeId;
using ast::StmtId;
using ast::StmtKind;
using ast::StmtNode;
using ast::VariableId;
using ast::VariableKind;

using Chain = InlineVector<Operand, 6>;

// Where a value is, or where it is put.
struct Place {
  enum class Kind : uint8_t {
    Value,     // within a value that is no variable's; cannot be written
    Variable,  // within an SSA variable
    Slot,      // slot and chain
    Packed,    // units of a packed buffer, from `value` + `offset` on
  };
  Kind kind = Kind::Value;
  uint8_t lanes = 0;  // of a swizzle on top; 0 for none
  uint8_t lane[4] = {};
  uint32_t variable = 0;  // Variable
  ValueId value;          // Value; Packed: uint index of the first unit
  SlotId slot;            // Slot, Packed
  uint32_t offset = 0;    // Packed: units to add
  uint32_t unit = 0;      // Packed: bytes of a unit
  Type type;              // what the chain reaches, below the swizzle
  Chain chain;            // Value and Variable: constant indices alone
};

// What a callable's parameter is bound to, when that is memory and not a value.
struct Bound {
  SlotId slot;
  Chain chain;  // values are the caller's in a call, the callee's parameters in its body
};

struct Instance {
  FunctionId id;
  std::vector<uint32_t> written;  // arguments that come back as results, in order
};

// What scan() finds out about a function before it is lowered.
struct Scan {
  std::vector<bool> scratch;        // by variable: needs memory
  std::vector<bool> calls;          // by expression: contains a call of a callable
  std::vector<uint32_t> loop_sets;  // by statement: index into sets of a Loop or For
  std::vector<std::vector<uint32_t>>
      sets;  // variables assigned in the loop, in order of first assignment
};
Scan scan_function(const FunctionBuilder& f);

// An integer constant that an index, a case or a step may be; false for anything else.
bool constant_integer(const FunctionBuilder& f, ExprId e, uint64_t& out);
// Whether elements are without padding, so that a packed buffer is an ordinary one.
bool is_dense(Type t);
// The one scalar type that all leaves of t have; false when they differ.
bool uniform_leaf(Type t, Type& leaf);
// What a packed buffer of padded elements holds for the device: their one scalar type, else
// unsigned integers of the size by which all their scalars can be reached.
Type packed_unit(Type element);

// One kernel.
class Lowering {
 public:
  Lowering(const FunctionBuilder& kernel, const LowerOptions& options);
  KernelDescriptor run();

  // The function that `callee` becomes for these bound parameters (by argument index), lowered now
  // unless it was before.
  const Instance& instance(const FunctionBuilder& callee, std::span<const Bound* const> bound,
                           Span span);
  SlotId add_internal(MemoryClass memory, Type type, std::string name, FunctionId owner, Span span);
  SlotId constant_slot(ValueId constant);
  uint32_t add_site(Site::Kind kind, std::string text, std::vector<Type> types, Span span);
  [[noreturn]] void fail_at(Diag code, Span span, std::initializer_list<std::string_view> args,
                            const Note* note = nullptr) const;

  KernelDescriptor d;
  KernelBuilder b;
  const LowerOptions& options;

 private:
  void host_slots();
  const FunctionBuilder& kernel_;
  std::unordered_map<std::string, Instance> instances_;
  std::unordered_map<uint32_t, SlotId> constant_slots_;
  std::vector<std::pair<const FunctionBuilder*, Span>> calls_;  // that led here, for notes
  uint32_t next_internal_ = kInternalSlotBase;
};

// One function of it.
class FunctionLowering {
 public:
  FunctionLowering(Lowering& all, const FunctionBuilder& f, FunctionId id);
  // By argument index; null where the parameter is a value.
  void run(std::span<const Bound* const> bound, std::span<const uint32_t> written);
  void bind_kernel();

 private:
  friend struct CallTable;
  static constexpr uint32_t kUnassigned = ValueId::kNone;
  static constexpr uint32_t kInMemory = ValueId::kNone - 1;  // assigned, and lives in its slot

  struct Home {  // of a variable
    bool memory = false;
    SlotId slot;
    Chain prefix;
  };
  struct Undo {
    uint32_t variable, value;
  };
  struct Change {
    uint32_t variable, value;
  };
  struct Arm {
    BodyId body;
    bool falls = false;
    uint32_t first_value = 0;  // ids below exist outside the arm
    std::vector<Change> changes;
  };
  struct Exit {  // a Break whose operands wait for the loop's end
    OpId op;
    Span span;
    bool exhausted = false;        // the one that the count makes
    std::vector<uint32_t> values;  // by the loop's set
  };
  struct Loop {
    const std::vector<uint32_t>* set = nullptr;  // variables that the body assigns
    std::vector<ValueId> params;                 // by set: the parameter that carries it, or none
    std::vector<uint8_t> hidden;   // by set: unassigned before, though the body certainly runs
    std::vector<uint8_t> lasting;  // by set: assigned at every Continue so far
    std::vector<ValueId> next;     // what the counters, the leading parameters, take next
    std::vector<Exit> exits;
    BodyId body;
    uint32_t first_value = 0;  // ids below exist outside the loop
    size_t mark = 0;           // of the log
  };

  // ---- variables (lower.cpp) --------------------------------------------------------------------
  void scratch_home(uint32_t v);
  void assign(uint32_t v, uint32_t value);
  ValueId value_of(uint32_t v, Span span);
  void need_assigned(uint32_t v, Span span);
  void left_unassigned(uint32_t v, Span span, const char* why);
  void initialise(uint32_t v, ValueId value);  // whole value, whatever the home
  ValueId whole(uint32_t v, Span span);

  // ---- statements (stmt.cpp); each returns whether control goes on after it
  // ------------------------
  bool scope(ScopeId id);
  bool statement(const StmtNode& s);
  bool return_(const StmtNode& s);
  bool assign_(const StmtNode& s);
  bool if_(const StmtNode& s);
  bool switch_(const StmtNode& s);
  bool switch_arms(const StmtNode& s, Type selector, std::vector<Operand>& operands,
                   std::vector<Arm>& arms);
  bool expression_statement(const StmtNode& s);
  bool print_(const StmtNode& s);
  bool assert_(const StmtNode& s);
  template <class Body>
  Arm arm(Body&& lower_body) {
    const ArmState before = open_arm();
    const bool falls = lower_body();
    return close_arm(before, falls);
  }
  struct ArmState {
    BodyId outer, body;
    uint32_t first_value;
    size_t mark;
  };
  ArmState open_arm();
  Arm close_arm(const ArmState& before, bool falls);
  // Makes the operation's results of what the arms changed; returns whether any arm goes on.
  bool merge(Op op, std::span<const Operand> operands, std::span<Arm> arms, uint8_t flags,
             Span span);
  std::vector<Change> unwind(size_t mark);

  // ---- loops (loop.cpp)
  // ---------------------------------------------------------------------------
  bool loop_(StmtId id, const StmtNode& s);
  bool for_(StmtId id, const StmtNode& s);
  struct Count {  // how a For counts
    Type type;    // what it counts in: at least 32 bits
    ValueId begin, end, step;
    Op test = Op::Less;  // counter `test` end: the loop goes on
    ValueId trips;       // counts these from 0 instead, beside the counter; none where not needed
    bool runs = false;   // certainly once
  };
  Count count_of(const StmtNode& s);
  ValueId trip_count(const Count& c, Type step_type);
  void open_loop(Loop& l, StmtId id, std::span<const ValueId> counters, bool runs,
                 std::vector<Operand>& operands);
  void continue_(Loop& l);
  void break_(Loop& l, bool exhausted, Span span);
  bool close_loop(Loop& l, std::vector<Operand>& operands, BodyId outer, Span span);

  // ---- expressions (expr.cpp)
  // ----------------------------------------------------------------------
  ValueId value(ExprId e);
  ValueId literal(const ExprNode& n);
  ValueId constant(ExprId e, const ExprNode& n);
  ValueId unary(const ExprNode& n);
  ValueId binary(const ExprNode& n);
  ValueId compare_mixed(const ExprNode& n, ValueId a, ValueId b);
  ValueId short_circuit(const ExprNode& n);
  ValueId conditional(const ExprNode& n);
  template <class First, class Second>
  ValueId choose(ValueId condition, Type type, Span span, First&& first, Second&& second);
  uint32_t temporary(Type type);  // a variable of ours
  bool is_cheap(ExprId e, int& budget) const;
  ValueId convert(ValueId v, Type to);
  ValueId columns(Op op, Type type, ValueId a, ValueId b);
  ValueId splat(ValueId scalar, Type vector);
  ValueId index_value(ExprId e);  // int, uint, long or ulong

  // ---- places (memory.cpp)
  // -------------------------------------------------------------------------
  Place place(ExprId e);
  Place variable_place(uint32_t v, Span span);
  Place access_place(const ExprNode& n);
  Place element_place(uint32_t resource, std::span<const ExprId> indices);
  ValueId linear_index(SlotId slot, uint32_t rank, std::span<const ExprId> indices);
  // External functions' own texts are not checked, so neither are their bodies.
  bool checks() const { return all_.options.bounds && !f_.external(); }
  // With bounds="trap": the thread traps unless 0 <= index < limit. `what` is for the message.
  void check_index(ValueId index, uint64_t limit, std::string what, Span span);
  void check_buffer(ValueId index, ValueId limit, ValueId size, std::string what, Span span,
                    Type read = {});
  void append_check(ValueId index, ValueId limit, ValueId size, std::string what, Span span,
                    Type read, uint8_t flags);
  ValueId length_of(SlotId slot, Type index);
  std::string spoken_place(ExprId base, Type indexed) const;
  void step(Place& p, uint32_t index);
  void step(Place& p, ValueId index);
  void swizzle(Place& p, uint32_t code, uint32_t count);
  ValueId read(const Place& p, Span span, uint8_t flags = 0);
  void write(const Place& p, ValueId v, Span span, uint8_t flags = 0);
  ValueId gather_scalar(const Place& p, Type t, uint32_t& offset, uint8_t flags);
  ValueId gather(const Place& p, Type t, uint32_t& offset, uint8_t flags);
  void scatter_scalar(const Place& p, Type t, ValueId v, uint32_t& offset, uint8_t flags);
  void scatter(const Place& p, Type t, ValueId v, uint32_t& offset, uint8_t flags);
  Operand packed_index(const Place& p, uint32_t offset);
  SlotId spill(ValueId v);
  ValueId extract(ValueId v, std::span<const Operand> path);
  ValueId insert(ValueId v, ValueId part, std::span<const Operand> path);
  ValueId shuffle(ValueId v, std::span<const uint8_t> lanes);
  void mark(SlotId slot, Access access);

  // ---- builtins (call.cpp)
  // -------------------------------------------------------------------------
  ValueId call(const ExprNode& n);
  ValueId call_make(const ExprNode& n);
  ValueId call_make_struct(const ExprNode& n);
  ValueId call_zero(const ExprNode& n);
  ValueId call_one(const ExprNode& n);
  ValueId call_block_size(const ExprNode& n);
  ValueId call_buffer_read(const ExprNode& n);
  ValueId call_buffer_write(const ExprNode& n);
  void check_room(SlotId slot, ValueId offset, uint64_t count, const char* kind, Type t, Span span);
  void check_bytes(SlotId slot, ValueId offset, Type t, Span span);
  ValueId call_byte_read(const ExprNode& n);
  ValueId call_byte_write(const ExprNode& n);
  struct WordPlace {  // words of a buffer<uint>, taken one after the other
    SlotId slot;
    ValueId offset;
    uint32_t count = 0;
  };
  WordPlace word_place(const ExprNode& n, Type t);
  Operand next_word(WordPlace& p);
  void pack(WordPlace& p, ValueId v);
  ValueId unpack(WordPlace& p, Type t);
  ValueId call_pack(const ExprNode& n);
  ValueId call_unpack(const ExprNode& n);
  ValueId call_length(const ExprNode& n);
  ValueId call_extent(const ExprNode& n);
  ValueId call_atomic(const ExprNode& n);
  ValueId call_effect(const ExprNode& n);
  ValueId call_assume(const ExprNode& n);
  ValueId call_trap(const ExprNode& n);
  ValueId call_hint(const ExprNode& n);
  ValueId call_plain(const ExprNode& n);
  ValueId call_pow(const ExprNode& n);
  ValueId call_read_lane(const ExprNode& n);
  bool is_number(ValueId v, double number) const;
  SlotId resource(ExprId e) const;

  // ---- callables (callable.cpp)
  // ---------------------------------------------------------------------
  ValueId custom_call(const ExprNode& n);

  Lowering& all_;
  KernelDescriptor& d_;
  KernelBuilder& b_;
  const FunctionBuilder& f_;
  FunctionId id_;
  Scan scan_;
  std::vector<Type> types_;  // by variable, temporaries of ours after the function's
  std::vector<Home> homes_;
  std::vector<uint32_t> current_;  // by variable: ValueId, kInMemory or kUnassigned
  std::vector<Note> unassigned_;   // by variable: where it was left so; made when first needed
  std::vector<Undo> log_;
  std::vector<uint32_t> seen_;  // by variable: last stamp
  uint32_t stamp_ = 0;
  std::vector<uint32_t> slot_of_variable_;  // merge()'s column of each variable that it handles
  std::vector<Loop*> loops_;
  std::vector<uint32_t> returned_;                   // variables that returns add to the results
  std::unordered_map<uint32_t, ValueId> constants_;  // by Constant expression
  uint32_t shared_place_expr_ = 0xffffffffu;         // an augmented target that is also read
  const Place* shared_place_ = nullptr;
  uint8_t hint_ = 0;    // of the next If or Switch
  uint32_t depth_ = 1;  // bodies around the point being lowered
};

}  // namespace lcpy::lower
