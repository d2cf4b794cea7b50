// From nodes to instructions: places in the register file, forms of operands, jumps.
#pragma once
#include "base/error.h"
#include "interp/program.h"

namespace lcpy::interp {

class Encoder {
 public:
  Encoder(Code& code, const Loops& loops, Program& program);
  void run();

 private:
  struct Labels {
    // Instructions to point somewhere once the place is known.
    std::vector<uint32_t> dead, other, exit, edge;
    uint32_t top = 0;
    bool test = false;  // the loop's first instruction is a jump of all lanes
    uint32_t mask = kNone, set_aside = kNone;  // cells
  };
  struct Address {
    uint32_t pointer = 0;
    enum class Mode : uint8_t { Cell, Linear, Row } mode{};
    uint32_t index = 0;
    Index type{};
    int64_t stride = 0;
  };

  // Places.
  uint32_t new_cell();
  uint32_t new_row(uint32_t bytes);
  void free_place(uint32_t place, Scalar type, Kind kind);
  uint32_t place(ScalarId s) const { return code_.scalars[s].place; }
  Kind kind(ScalarId s) const { return code_.scalars[s].kind; }
  bool is_row(ScalarId s) const { return kind(s) == Kind::Varying; }
  Scalar type(ScalarId s) const { return code_.scalars[s].type; }
  uint32_t define(ScalarId s);
  void release(uint32_t node);
  void release_temporaries();
  uint32_t as_row(ScalarId s, uint32_t bytes);
  uint32_t temporary_row(uint32_t bytes);
  uint32_t temporary_cell();
  void pin();

  // Instructions.
  Instr& put(Fn fn, uint32_t d = 0, uint32_t a = 0, uint32_t b = 0, uint32_t c = 0);
  uint32_t at() const { return static_cast<uint32_t>(out_.size()); }
  void aim(const std::vector<uint32_t>& from, bool dead, uint32_t to);
  void wait_dead(uint32_t region);  // the last instruction's dead field
  void finish();

  void node(const Node& n, uint32_t index);
  void element(const Node& n, uint32_t index);
  void product(const Node& n, uint32_t index);
  void mask(const Node& n, uint32_t index);
  void convert(const Node& n, uint32_t index);
  void choose(const Node& n, uint32_t index);
  Address address(const Node& n, bool offsets_only);
  int32_t offset_of(Address& a, int64_t offset);
  uint32_t offset_row(const Node& n);
  uint32_t last_address(const Node& n);
  bool load_one_at(const Node& n, uint32_t index);
  void load(const Node& n, uint32_t index);
  void store(const Node& n);
  void atomic(const Node& n, uint32_t index);
  void warp(const Node& n, uint32_t index);
  void move(const Node& n, uint32_t index);
  bool blends(const Node& n) const;
  void begin_if(const Node& n);
  void compare_lanes(const Node& n, uint32_t rest);
  void begin_else(const Node& n);
  void end_if(const Node& n);
  void begin_loop(const Node& n);
  void latch(const Node& n);
  void end_loop(const Node& n);
  bool starts_with_test(uint32_t loop) const { return labels_[loop].test; }
  void begin_call(const Node& n);
  void end_call(const Node& n);
  void leave(const Node& n);

  Code& code_;
  const Loops& loops_;
  Program& program_;
  std::vector<Instr> out_;
  std::vector<Labels> labels_;  // by region
  std::vector<uint32_t> free_cells_, free_rows_[kSizes];
  uint32_t cells_ = 8, rows_ = 0;                              // bytes; cell 0 means none
  std::vector<std::pair<uint32_t, uint32_t>> temporary_rows_;  // place, size index
  std::vector<uint32_t> temporary_cells_;
  std::vector<ScalarId> dying_, dies_next_;                // by node: list heads; links
  std::vector<uint32_t> constant_rows_[kSizes];            // by scalar, kNone
  std::vector<std::pair<uint32_t, uint32_t>> wished_;      // atomics: instruction, place of `e`
  std::vector<std::pair<uint32_t, ScalarId>> row_images_;  // pinned rows of constants
  uint32_t constant_row_count_ = 0;
};

}  // namespace lcpy::interp
