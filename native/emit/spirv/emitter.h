// Walks a descriptor and writes a module. One class; its members are defined by chapter:
// resources.cpp (slots, the argument block, constants), fold.cpp, values.cpp, precise.cpp,
// fma.cpp, division.cpp and convert.cpp (operations on values), memory.cpp, bytes.cpp, atomics.cpp,
// flow.cpp, functions.cpp.
#pragma once
#include <functional>
#include <span>
#include <unordered_map>
#include <vector>

#include "emit/emit.h"
#include "emit/spirv/made_of.h"
#include "emit/spirv/ops.h"
#include "emit/spirv/preflight.h"
#include "emit/spirv/types.h"
#include "spirv/module.h"

namespace lcpy::spirv {

class Emitter {
 public:
  Emitter(const KernelDescriptor& d, const BindingPlan& plan, const VulkanTarget& target,
          const Needs& needs);
  SpirvModule run();

  // ---- rows of ops.def ------------------------------------------------------------------------
  // values.cpp
  void select(const Operation& o);
  void abs(const Operation& o);
  void neg(const Operation& o);
  void clz(const Operation& o);
  void ctz(const Operation& o);
  void mul_hi(const Operation& o);
  void all_lanes(const Operation& o);
  void any_lane(const Operation& o);
  void outer_product(const Operation& o);
  void transpose(const Operation& o);
  void construct(const Operation& o);
  void extract(const Operation& o);
  void insert(const Operation& o);
  void shuffle(const Operation& o);
  // precise.cpp
  void round_whole(const Operation& o);
  void truncate(const Operation& o);
  void fma(const Operation& o);
  void atan2(const Operation& o);
  // division.cpp
  void div(const Operation& o);
  void div_integer(const Operation& o);
  void rem_integer(const Operation& o);
  void sqrt(const Operation& o);
  // convert.cpp
  void convert(const Operation& o);
  void bitcast(const Operation& o);
  // resources.cpp
  void thread_id(const Operation& o);
  void block_id(const Operation& o);
  void dispatch_id(const Operation& o);
  void dispatch_size(const Operation& o);
  void kernel_id(const Operation& o);
  void buffer_length(const Operation& o);
  void buffer_extent(const Operation& o);
  // memory.cpp, bytes.cpp
  void load(const Operation& o);
  void store(const Operation& o);
  void byte_load(const Operation& o);
  void byte_store(const Operation& o);
  // atomics.cpp
  void atomic_load(const Operation& o);
  void atomic_store(const Operation& o);
  void atomic_update(const Operation& o);
  void atomic_compare(const Operation& o);
  void sync_block(const Operation& o);
  // warp.cpp
  void clock(const Operation& o);
  void warp_id(const Operation& o);
  void warp_vote(const Operation& o);
  void warp_ballot(const Operation& o);
  void warp_combine(const Operation& o);
  void warp_read(const Operation& o);
  // flow.cpp
  void if_(const Operation& o);
  void switch_(const Operation& o);
  void loop(const Operation& o);
  void yield(const Operation& o);
  void break_(const Operation& o);
  void continue_(const Operation& o);
  void unreachable(const Operation& o);
  // functions.cpp
  void call(const Operation& o);
  void return_(const Operation& o);

 private:
  // ---- functions.cpp --------------------------------------------------------------------------
  // A function of the module of one to three parameters, made at its first use; all of its types
  // are one, and `body` ends its blocks itself.
  Word own_function(Word& made, const char* name, Word type, uint32_t arity,
                    const std::function<void(const Word* parameters)>& body);
  void emit_function(FunctionId f);
  void emit_in_loop(BodyId body);
  Word turn_ = 0;  // the continue block of that loop, while its body is emitted
  void emit_op(const Operation& o);
  void emit_instruction(const Operation& o, const EmitRow& row);
  bool counts(ValueId v, uint32_t steps = 0) const;
  bool ends_loop(std::span<const Operand> x) const;
  Word compared(std::span<const Operand> x, Word id, Scalar s, uint32_t n);
  void emit_glsl(const Operation& o, const EmitRow& row);
  void emit_line(Span span);
  Word function_id(FunctionId f);
  Word result_type(const Function& f);
  void require_needs();
  void float_controls(Word entry);

  // ---- writing --------------------------------------------------------------------------------
  Word type(Type t) { return types_.id(t); }
  Word lanes(Scalar s, uint32_t n = 1) { return types_.lanes(s, n); }
  Word value(ValueId v) {
    const Word known = ids_[v.value];
    return known ? known : late_constant(v);
  }
  Word value(Operand x) { return value(x.value()); }
  Type type_of(Operand x) const { return d_.type_of(x.value()); }
  // The operation's only result.
  void alias(const Operation& o, Word id) { ids_[o.first_result.value] = id; }
  // An instruction with a result, into the current block (or wherever out_ points). Arguments that
  // themselves write or make ids are evaluated before, in statements of their own: the order of
  // evaluation within a call is the compiler's, and modules must not depend on the compiler.
  template <class... Operands>
  Word emit(Opcode code, Word result_type, Operands... operands) {
    const Word id = m_.new_id();
    out_->op(code, result_type, id, operands...);
    return id;
  }
  Word emit_list(Opcode code, Word result_type, std::span<const Word> operands);
  template <class... Operands>
  Word glsl(Glsl function, Word result_type, Operands... operands) {
    return emit(Opcode::ExtInst, result_type, m_.glsl(), function, operands...);
  }
  void start_block(Word label) {
    out_->op(Opcode::Label, label);
    label_ = label;
  }
  bool strict() const { return d_.math == MathMode::Strict; }
  void exact(Word id) {
    if (strict()) m_.decorate(id, Decoration::NoContraction);
  }

  // ---- constants (resources.cpp) --------------------------------------------------------------
  Word late_constant(ValueId v);
  Word hidden_constant(ValueId v);
  Word choice(ValueId v);
  Word unseen(ValueId v);
  Word constant(Type t, const std::byte* bytes);
  Word scalar_constant(Scalar s, uint64_t bits);
  Word lane_constant(Scalar s, uint32_t count, uint64_t bits);  // spread
  Word u32(uint32_t v) { return m_.constant_u32(v); }

  // ---- resources.cpp --------------------------------------------------------------------------
  struct SlotState {
    Word variable = 0;
    Word pointer_type = 0;
    StorageClass storage{};
    Family family = Family::Value;
    bool padded = false;  // elements of three lanes, declared as four
  };
  SlotState& slot(SlotId s);
  void declare_global(SlotId id, SlotState& s);
  void declare_block();
  // Rows of kBuiltins.
  enum Builtin : uint32_t {
    kThreadId,
    kBlockId,
    kDispatchId,
    kBlocks,
    kThreadIndex,
    kWarpSize,
    kWarpLane,
    kBuiltinCount
  };
  Word builtin(uint32_t index);
  // The hardware's grid when it is not the dispatch's (fold.cpp).
  struct Folded {
    Word linear = 0, total = 0;  // index of this block, number of blocks
    Word block = 0, dispatch = 0;
  };
  const Folded& folded();
  void leave_spare_blocks();
  // A word of the argument block, loaded once a function.
  Word block_word(uint32_t offset);
  Word block_word_at(Word index);  // run-time index, in words
  Word index_word(Operand x);
  Word element_index(SlotId s, Operand first);  // with the view's base

  // ---- memory.cpp -----------------------------------------------------------------------------
  struct Place {
    Word pointer = 0;  // to the place, or to the variable while the chain is empty
    Type type;         // of what is there
    StorageClass storage{};
    Family family{};
    bool padded = false;  // the pointer is to four lanes, the value has the first three
  };
  // operands [Slot, (Value,) chain…]: the chain starts at operand `first`.
  Place place(const Operation& o, uint32_t first);
  static Word access_mask(const Operation& o);
  Word load_place(const Place& p, Word access);
  void store_place(const Place& p, Word value, Word access);
  void store_zeros(const Place& p, Word access);
  Place component(const Place& p, uint32_t index);
  Word from_memory(Word id, Type lanes_type, Family f);
  Word to_memory(Word id, Type lanes_type, Family f);
  void load_uniform(const Operation& o);

  // ---- bytes.cpp ------------------------------------------------------------------------------
  // Values taken from, and put into, memory that is declared as words. A byte offset is a
  // constant part and a run-time part (0: none).
  struct WordMemory {
    bool is_block = false;  // the argument block
    Word variable = 0;      // else a buffer of words
    Word access = 0;        // MemoryAccess
  };
  struct ByteOffset {
    uint32_t constant = 0;
    Word runtime = 0;
  };
  Word read_bytes(const WordMemory& m, Type t, ByteOffset at);
  Word read_scalar(const WordMemory& m, Scalar s, ByteOffset at);
  Word read_word(const WordMemory& m, ByteOffset at);
  Word word_index(ByteOffset at);
  Word bit_shift(ByteOffset at);
  ByteOffset byte_offset(SlotId s, Operand x);
  ByteOffset place_offset(const Operation& o, uint32_t first, Type* type);
  Word word_pointer(const WordMemory& m, ByteOffset at);
  void write_bytes(const WordMemory& m, Type t, ByteOffset at, Word value);
  void store_word(const WordMemory& m, Word pointer, Word word);
  void write_scalar(const WordMemory& m, Scalar s, ByteOffset at, Word value);

  // ---- convert.cpp ----------------------------------------------------------------------------
  Word rounded(ValueId v);
  Hides hides_conversion(const Operation& o) const;
  Word convert_lanes(Word id, Scalar from, Scalar to, uint32_t count, Hides hides = {});
  Word convert_integer(Word id, Scalar from, Scalar to, uint32_t count);
  Word extend_by_offset(Word id, Scalar to, uint32_t n);
  Word wrap(Word id, Scalar s, uint32_t n);
  Word bitcast_by_words(Word id, Type from, Type to);
  // A scalar's bits as a word, or two, zeros above; and back from the low bits of a word, or two.
  void word_bits(Word id, Scalar s, Word bits[2]);
  Word scalar_of_words(Scalar s, Word low, Word high);
  Word to_u32(Word id, Scalar from);  // an index or offset
  Word select_components(Word cond, Word a, Word b, Type t);

  // ---- precise.cpp ----------------------------------------------------------------------------
  Word double_to_half(Word id, uint32_t count);
  bool hides_zeros(Type t, const std::byte* bytes) const;
  Word with_hidden_zeros(Type t, const std::byte* bytes);
  Word zero_at_run_time(Scalar s);
  Word hidden_word(uint32_t number);
  Word spread(Word id, Scalar s, uint32_t count);
  Word hidden_float(Word id, Scalar s, uint32_t count);
  Word hidden_double(Word id, uint32_t count);
  Word hidden_number(Type t, const std::byte* bytes);
  bool hides_choices() const { return !target_.sound_choices && d_.math != MathMode::Fast; }
  bool hides() const { return !target_.exact_zeros && d_.math != MathMode::Fast; }
  Word hidden_integer(Word id, Scalar s, uint32_t count);
  Word hidden_bits(Word id, Scalar s, uint32_t count);
  Word whole_bits(Word id, Scalar s, uint32_t count);

  // ---- fma.cpp --------------------------------------------------------------------------------
  struct Doubles;
  Word fma_narrow(Word a, Word b, Word c, Scalar s);
  Word fma_half(Word a, Word b, Word c);
  Word fma_double(Word a, Word b, Word c);
  Word fma_lanes(Word a, Word b, Word c, Scalar s, uint32_t count);
  Word fma_function_ = 0;  // of doubles

  // ---- division.cpp ---------------------------------------------------------------------------
  struct FloatBits;
  bool corrects_division(Scalar s) const {
    return !target_.exact_division && d_.math != MathMode::Fast && s != Scalar::Float64;
  }
  using OwnValue = std::function<Word(const Word* parameters)>;
  using OwnCheck = std::function<Word(const Word* parameters, Word result)>;
  Word branching_function(Word& made, const char* name, uint32_t arity, uint32_t count,
                          const OwnValue& quick, const OwnCheck& holds, const OwnValue& careful);
  Word size_is(Opcode comparison, Word v, uint32_t limit, uint32_t count);
  Word quick_reciprocal(Word b, int steps, uint32_t count);
  Word divides_closely(Word fits, Word b, uint32_t count);
  Word quotient_of(ValueId dividend, ValueId divisor, Word a, Word b, uint32_t count);
  Word exact_quotient(Word a, Word b, uint32_t count);
  Word exact_reciprocal(Word b, uint32_t count);
  Word exact_quotient_by(Word a, Word b, Word reciprocal, uint32_t count);
  Word exact_root(Word a, uint32_t count);
  Word divide_integers(Opcode code, Type t, Word a, Word b);
  Word whole_quotient(Word id, Type t);
  Word quick_root(Word x, uint32_t count);
  Word rare_quotient(Word a, Word b, uint32_t count);
  Word careful_quotient(Word a, Word b, uint32_t count);
  Word reciprocal_of_root(Word root, uint32_t count);
  Word is_end(Word v, uint32_t count);
  Word plain_function(Word& made, const char* name, uint32_t count,
                      const std::function<Word(Word)>& body);
  bool divides_doubles_ = false;
  // Ids, by lanes.
  Word quotient_functions_[5] = {}, reciprocal_functions_[5] = {}, constant_functions_[5] = {},
       root_functions_[5] = {}, root_reciprocals_[5] = {};

  // ---- atomics.cpp ----------------------------------------------------------------------------
  struct AtomicPlace {
    Place place;
    Scalar scalar{};  // the language's
    Scalar stored{};  // as declared: bits of emulated floats
    Word scope = 0;
  };
  AtomicPlace atomic_place(const Operation& o, uint32_t first);
  Word semantics(const Operation& o, const AtomicPlace& p, bool reads, bool writes);
  Word as_stored(const AtomicPlace& p, Word id);
  Word as_value(const AtomicPlace& p, Word id);
  Word extreme_bits(const Operation& o, const AtomicPlace& p, Word seen, Word operand);
  Word compare_loop(const Operation& o, const AtomicPlace& p, Word operand);

  // ---- warp.cpp -------------------------------------------------------------------------------
  Word subgroup() { return u32(to_word(Scope::Subgroup)); }
  Word active_lanes();
  Word linear_thread_id();
  Word thread_of_block() { return linear_block_ ? linear_thread_id() : builtin(kThreadId); }
  Word linear_dispatch_id();

  // ---- flow.cpp -------------------------------------------------------------------------------
  // The branches into a block, each with the values it brings; these lie in flow_values_.
  struct Incoming {
    Word label = 0;
    size_t values = 0;
  };
  struct Target {
    Word label = 0;
    std::vector<Incoming> from;
  };
  struct Frame {
    Target merge, next;  // next: a loop's continue block
  };
  void emit_body(BodyId body, size_t from = 0);
  void arrive(Target& target, std::span<const Operand> values);
  void branch(Target& target, const Operation& o);
  // The only operation of a body that has just one, of this kind; else nullptr.
  const Operation* lone(BodyId body, Op op) const;
  bool flat(const Operation& o) const;
  size_t flat_length(const Operation& o) const;
  void flatten(const Operation& o, Word condition);
  // The block to branch to for a body: a new one, or the merge itself when the body does nothing.
  Word entry(BodyId body, Target& merge);
  void enter(BodyId body, Word label, const Target& merge);
  void merge(const Operation& o, Target& target);
  Word merged(const Target& target, uint32_t index, Type t);
  LoopControl loop_control(const Operation& loop) const;
  bool continues(BodyId body) const;
  bool continues_early(BodyId body) const;
  Word carried(std::span<const ValueId> params, uint32_t i, Word next);
  size_t loop_header(const Operation& loop, Frame& frame);
  bool carries_integer(ValueId param) const;
  Word integer_of_bool(Word id, uint32_t n);
  bool hides_start(const Operation& loop, uint32_t param) const;
  std::vector<Word> initial_values(const Operation& o);
  std::vector<size_t> loop_phis(const std::vector<ValueId>& params, std::span<const Word> initial,
                                Word before, Word next);
  void fill_phis(std::span<const ValueId> params, std::span<const size_t> holes,
                 const Target& from);
  bool turns_freely(const Operation& loop) const;

  const KernelDescriptor& d_;
  const BindingPlan& plan_;
  const VulkanTarget& target_;
  const Needs& needs_;
  const MadeOf made_;        // where the driver's rounding is not to be trusted
  const bool linear_block_;  // emitted with all threads along x
  const ArgumentBlock block_;
  Module m_;
  Types types_;

  // Of the whole module.
  std::vector<Word> ids_;  // by value; 0 until defined
  std::vector<SlotState> slots_;
  std::vector<Word> function_ids_;
  std::vector<FunctionId> queue_;  // functions called and not yet written
  Word block_variable_ = 0, block_word_pointer_ = 0;
  Word builtins_[kBuiltinCount] = {};
  std::vector<Word> files_;  // OpString by source file

  // Of the function being written.
  Words head_, early_, code_;  // variables; loads that every block may use; the rest
  Words* out_ = &code_;
  Word label_ = 0;                        // of the current block; 0 after a terminator
  std::vector<Word> block_words_;         // by word of the argument block
  std::vector<Word> uniform_values_;      // whole Uniform slots, by slot
  Word hidden_zeros_[kScalarCount] = {};  // by scalar
  std::vector<std::pair<uint32_t, Word>> hidden_words_;
  std::unordered_map<uint32_t, Word> hidden_constants_;  // by value
  Word builtin_values_[kBuiltinCount] = {};
  Word linear_thread_ = 0, linear_dispatch_ = 0;
  Folded folded_;
  Span line_;

  // ---- debug.cpp ------------------------------------------------------------------------------
  void open_debug(const Function& f, Word function);
  void debug_line(Span span);
  Word debug_source(uint32_t file);
  std::string debug_text(std::string_view name) const;
  std::vector<std::pair<std::string, Word>> debug_sources_;  // DebugSource by file name
  Word debug_unit_ = 0, debug_scope_ = 0, debug_block_ = 0;
  Span debug_span_;
  FunctionId function_;

  // Flow: the innermost selection and loop, and what the branches so far bring along.
  Frame* selection_ = nullptr;
  Frame* loop_ = nullptr;
  std::vector<Word> flow_values_;
  std::vector<Word> scratch_;
};

}  // namespace lcpy::spirv
