// Walks a descriptor and writes it as C-like text, in time linear in its size. pass_expand has run.
//
// A value becomes `const T v12 = …;`, or is written where it is used if that is its one use, in the
// same body, and it is pure and short. Carried values and results of control are mutable variables.
#pragma once
#include <array>
#include <set>
#include <string>
#include <vector>

#include "emit/clike/types.h"
#include "lower/expand.h"

namespace lcpy::clike {

inline bool is_narrow(Type t) { return t.is_integer() && scalar_size(t.scalar()) < 4; }
inline Scalar unsigned_of(Scalar s) { return unsigned_like(Type::of(s)).scalar(); }

struct OpForm;
struct OpForms;

class Emitter {
 public:
  Emitter(const KernelDescriptor& d, Dialect& dialect);

  std::string emit();

  const KernelDescriptor& descriptor() const { return d_; }
  const ArgumentBlock& block() const { return block_; }
  Types& types() { return types_; }
  // Where to define a function of that name that the text needs; none if it is defined already.
  // Or of a number that a dialect gives it, which costs less to look up.
  Text* define(const std::string& name);
  Text* define(uint32_t number);

 private:
  friend struct OpForms;

  // What the first walk finds (analysis.cpp).
  struct FunctionFacts {
    std::vector<bool> slots;  // reached by it or by what it calls
    bool known = false;
    bool warps = false;
  };
  void analyse();
  void analyse_function(FunctionId f);
  bool analyse_body(BodyId body, FunctionFacts& facts);  // true if a break leaves it
  void count_use(ValueId v, BodyId body, bool movable);

  // Reads that the compiler must not merge with others (apart.cpp): sizes of scalars, in bytes, of
  // reads of buffers that the kernel only reads, and of others.
  struct Reads {
    uint8_t fixed = 0, changing = 0;
    Reads& operator|=(const Reads& other) {
      fixed |= other.fixed;
      changing |= other.changing;
      return *this;
    }
  };
  class Ways;
  void analyse_apart();
  Reads reads_of(const Operation& op) const;
  Reads find_apart(BodyId body);
  Reads function_reads(FunctionId f);
  void spread_apart(BodyId body, uint8_t apart);
  bool is_apart(const Operation& read) const;
  void read_apart(Text& at, std::string_view type);

  // Choices between constants (choices.cpp).
  void analyse_choices(const Operation& op);
  bool chosen_as_bits(Type type) const;
  bool holds_constant(ValueId v) const;
  void bits(Text& t, ValueId v);
  void chosen_results(const Operation& op);
  void hide_zeros(ValueId v);
  bool hides(ValueId v) const;

  // What the compiler may not know (hidden.cpp).
  void hidden_zero(Text& t) const;
  void hidden(Text& t, ValueId v);
  void argument(Text& t, Op op, ValueId v);
  bool is_unknown(ValueId v, bool within, uint32_t steps = 0) const;
  bool is_unknown_integer(ValueId v, uint32_t steps) const;
  bool is_read(ValueId v) const;
  bool is_met(ValueId v, uint32_t steps = 0) const;
  void negate_narrow(Text& t, ValueId v);

  // Functions and bodies (emitter.cpp).
  void function_head(Text& t, FunctionId f);
  void slot_parameter(Text& t, SlotId s);
  void define_function(FunctionId f);
  void define_kernel();

  // External functions (external.cpp).
  bool is_external(FunctionId f) const {
    return d_.functions[f.value].external != Function::kNotExternal;
  }
  const ExternalFunction& external(FunctionId f) const {
    return d_.externals[d_.functions[f.value].external];
  }
  void external_name(Text& t, const ExternalFunction& e) const;
  void external_texts(Text& t) const;
  void define_external(FunctionId f);

  void declare_results(FunctionId f);
  void scratch_slots(FunctionId f);
  void constant_table(const std::string& name, std::span<const std::byte> data, Type type);
  void body(BodyId id);
  void value(const Operation& op, const OpForm& form);
  void declare(Text& t, ValueId v, bool is_const);
  Text& line() { return out_ << std::string_view(indent_); }

  // Values (values.cpp).
  void operand(Text& t, ValueId v);
  void bare(Text& t, ValueId v);
  bool is_zero(ValueId v) const;
  uint64_t lane_bits(ValueId constant, uint32_t lane) const {
    return clike::lane_bits(d_.type_of(constant), d_.constant_bytes(constant), lane);
  }
  void operand_unsigned(Text& t, ValueId v);
  void constant(Text& t, ValueId v);
  void constant_lanes(Text& t, Type type, std::span<const std::byte> bytes);
  void expression(Text& t, const Operation& op, const OpForm& form);
  void wrapping(Text& t, const Operation& op, std::string_view sign);
  void compare(Text& t, const Operation& op, std::string_view sign);
  void select_whole(Text& t, ValueId condition, ValueId yes, ValueId no);
  void from_memory(Text& t, std::string_view place, Type type);
  void to_memory(Text& t, ValueId v);
  void value_neg(Text& t, const Operation& op);
  void value_not(Text& t, const Operation& op);
  void value_select(Text& t, const Operation& op);
  void value_abs(Text& t, const Operation& op);
  void value_bit_count(Text& t, const Operation& op);
  void value_mul_hi(Text& t, const Operation& op);
  void value_all_any(Text& t, const Operation& op);
  void value_convert(Text& t, const Operation& op);
  void value_bitcast(Text& t, const Operation& op);
  void value_unpack_half(Text& t, const Operation& op);
  void value_pack_half(Text& t, const Operation& op);
  void value_construct(Text& t, const Operation& op);
  void value_extract(Text& t, const Operation& op);
  void value_shuffle(Text& t, const Operation& op);
  void value_remainder(Text& t, const Operation& op);
  void value_shift_left(Text& t, const Operation& op);
  void insert(const Operation& op);
  void id_lane(Text& t, Op id, uint32_t lane);
  const Operation* id_operation(ValueId v) const;
  bool alias_extract(const Operation& op);

  // Memory and the argument block (memory.cpp, bytes.cpp).
  struct Place {
    Text text;  // an lvalue of the memory form
    Type type;
    MemoryClass memory;
  };
  Place place(std::span<const Operand> operands, size_t chain, bool addressable);
  void four_lanes(Text& t, const Place& p);
  void index(Text& t, Operand o, MemoryClass memory);
  void element(Text& t, uint32_t slot, Operand index);
  struct Sum;
  void add_terms(Sum& sum, ValueId v) const;
  void read_place(Text& t, const Operation& op);
  void read_uniform(Text& t, const Operation& op);
  void store(const Operation& op);
  bool stores_parts(ValueId v, MemoryClass memory) const;
  bool is_put_together(ValueId v) const;
  void store_parts(const std::string& place, ValueId v, MemoryClass memory);
  bool copies_parts(ValueId v) const;
  void copy(const std::string& to, const std::string& from, ValueId v);
  void copy_words(const std::string& to, const std::string& from, Type t);
  void copy_parts(const std::string& to, const std::string& from, Type t, bool clean,
                  uint32_t depth = 0);
  bool reads_parts(const Operation& o) const;
  bool cleans(const Operation& o) const;
  void clean_bools(Text& t, Type type, std::string_view place);
  void atomic(const Operation& op);
  void read_bytes(Text& t, const Operation& op);
  void read_warp(Text& t, const Operation& op);
  void read_clock(Text& t, const Operation&) { dialect_.clock(t); }
  void byte_store(const Operation& op);
  void value_id(Text& t, const Operation& op);
  void value_dispatch_size(Text& t, const Operation& op);
  void value_kernel_id(Text& t, const Operation& op);
  void value_buffer_length(Text& t, const Operation& op);
  void value_buffer_extent(Text& t, const Operation& op);
  void sync_block(const Operation& op);
  void block_value(Text& t, Type type, uint32_t offset);
  void block_scalar(Text& t, Scalar s, uint32_t offset);
  std::string cleaner(Type type);
  enum class Source : uint8_t { Block, Bytes, VolatileBytes };
  void read_scalar(Text& t, Type type, Source source);
  std::string reader(Type type, Source source);
  std::string writer(Type type, bool is_volatile);

  // Control (flow.cpp).
  void if_else(const Operation& op);
  void switch_case(const Operation& op);
  void loop(const Operation& op);
  void call(const Operation& op);
  void yield(const Operation& op);
  void break_loop(const Operation& op);
  void continue_loop(const Operation& op);
  void return_results(const Operation& op);
  void unreachable(const Operation& op);
  void not_lowered(const Operation& op);
  void results(const Operation& op);
  void nested(BodyId body);
  std::string named(ValueId v);
  void move(ValueId to, ValueId from);
  bool ends_with(BodyId body, Op terminator) const;
  bool is_empty(BodyId body) const;

  // Which lanes of a warp are here, for dialects that name them (lanes.cpp).
  struct Arm {
    BodyId body;
    std::string condition;  // or none, of the one arm that is for all others
  };
  struct Parting {
    std::vector<std::string> lanes;  // of each arm; none where no operation asks
    std::string after;
    bool meets = false;
  };
  std::vector<Arm> switch_arms(const Operation& op, std::string_view selector);
  void switch_of(const Operation& op, std::string_view selector,
                 std::span<const std::string> lanes);
  void if_chain(std::span<const Arm> arms, std::span<const std::string> lanes);
  enum class Leave : uint8_t { Break = 1, Return = 2, Continue = 3 };
  struct Meeting {            // where lanes that leave go first, for those that stay to learn of it
    std::string label, left;  // the variable: how a lane leaves, 0 if it stays
    bool is_round = false;    // the end of a loop's rounds
    bool continues = false;   // lanes come to it that left an earlier meeting by Continue
  };
  struct Votes;
  void begin_lanes(FunctionId f);
  bool names_lanes(FunctionId f) const { return traits_.names_lanes && facts_[f.value].warps; }
  bool joins(BodyId loop) const { return traits_.names_lanes && warps_[loop.value]; }
  bool keeps_results(FunctionId f) const;
  bool parts(std::initializer_list<BodyId> arms) const;
  bool parts(BodyId arm) const;
  Parting part_lanes(std::span<const Arm> arms);
  void arm(BodyId id, const std::string& lanes);
  std::string lanes_name() { return "lanes" + std::to_string(++lanes_count_); }
  std::string vote(std::string_view condition);
  void open_meeting(BodyId id);
  void close_meeting();
  void open_rounds(BodyId loop);
  void close_rounds();
  void returned(BodyId loop, bool lanes_follow);
  void leave(Leave how);
  void return_kept();

  struct Open {  // a construct that terminators refer to
    ValueId first_result;
    uint32_t result_count = 0;
    BodyId body;  // of a loop
  };

  const KernelDescriptor& d_;
  Dialect& dialect_;
  const Dialect::Traits traits_;
  Types types_;
  ArgumentBlock block_;
  Text out_, head_, scratch_;
  std::string indent_;
  std::set<std::string> defined_;
  std::vector<bool> defined_numbers_;

  std::vector<uint32_t> uses_;     // by value
  std::vector<BodyId> user_body_;  // by value: where its one use is, if it may move there
  std::vector<uint32_t> inlined_;  // by value: index into texts_ + 1, or 0
  std::vector<std::string> texts_;
  std::vector<bool> aliases_;  // by value: inlined as a component of a variable
  // By value: a result of control that is b12 before it is v12, or made of parts that may hide.
  std::vector<bool> chosen_;
  std::vector<bool> breaks_;  // by body
  // By body, at any depth: whether lanes leave the function or the body by a terminator of its
  // loop's or its function's, and whether an operation asks which lanes are here.
  std::vector<bool> returns_, leaves_, warps_;
  std::vector<uint32_t> last_warp_;   // by body: how many operations end with the last that asks
  std::vector<FunctionFacts> facts_;  // by function
  std::vector<uint8_t> apart_, function_apart_;        // sizes that are read apart there
  std::unordered_map<uint32_t, uint8_t> apart_after_;  // by operation: in the rest of its body
  std::vector<Reads> function_reads_;
  std::vector<bool> function_known_;
  bool any_apart_ = false;
  uint8_t apart_now_ = 0;
  std::vector<std::string> slot_names_;
  std::vector<bool> table_defined_;  // by value: constants at program scope

  // An index as terms plus a constant, modulo 2^32.
  struct Sum {
    std::array<uint32_t, 4> terms{};  // values, ascending
    uint32_t count = 0, constant = 0, steps = 0;
    bool fits = true;
    friend bool operator==(const Sum&, const Sum&) = default;
  };
  // Elements that have certainly been accessed where the walk is; later ones near them are reached
  // from their places.
  struct Accessed {
    uint32_t slot;
    Sum sum;  // its constant aside
    uint32_t constant;
    std::string index;
  };
  std::vector<Accessed> accessed_;

  FunctionId function_;
  BodyId body_;
  std::vector<Open> yields_, loops_;
  std::string lanes_;  // the name of those that are here, where an operation asks
  uint32_t lanes_count_ = 0;
  bool lanes_follow_ = false;  // an operation that asks follows in the body
  std::vector<Meeting> meetings_;
};

}  // namespace lcpy::clike
