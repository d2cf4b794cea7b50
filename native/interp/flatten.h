// The walk from descriptor to nodes, shared by its chapters: values, memory, flow.
#pragma once
#include <array>
#include <memory>
#include <span>
#include <unordered_map>

#include "base/error.h"
#include "interp/ir.h"

namespace lcpy::interp {

class Flattener {
 public:
  Flattener(const KernelDescriptor& d, Strips strips, uint32_t warp_size);
  Code run();

  // One function a row of interp.def.
  void element(const Operation& o);
  void select(const Operation& o);
  void clamp(const Operation& o);
  void saturate(const Operation& o);
  void lerp(const Operation& o);
  void step(const Operation& o);
  void convert(const Operation& o);
  void bitcast(const Operation& o);
  void construct(const Operation& o);
  void extract(const Operation& o);
  void insert(const Operation& o);
  void shuffle(const Operation& o);
  void reduce(const Operation& o);
  void ids(const Operation& o);
  void kernel_id(const Operation& o);
  void length(const Operation& o);
  void load(const Operation& o);
  void store(const Operation& o);
  void atomic(const Operation& o);
  void extent(const Operation& o);
  void byte_load(const Operation& o);
  void byte_store(const Operation& o);
  void sync_block(const Operation& o);
  void warp(const Operation& o);
  void warp_size(const Operation& o);
  void warp_ballot(const Operation& o);
  void if_(const Operation& o);
  void switch_(const Operation& o);
  void loop(const Operation& o);
  void call(const Operation& o);
  void yield(const Operation& o);
  void break_(const Operation& o);
  void continue_(const Operation& o);
  void return_(const Operation& o);
  void unreachable(const Operation& o);
  void expanded(const Operation& o);

 private:
  using Scalars = std::vector<ScalarId>;
  struct Place {
    ScalarId pointer = kNone;
    uint32_t terms = 0, term_count = 0;  // into Code::terms
    int64_t offset = 0;
    Type type;  // of what the place holds
    bool lanes = false;
  };
  struct LeafRange {
    uint32_t begin = 0, count = 0;  // into Code::leaves
  };

  // Values.
  LeafRange leaves(Type t);
  void append_leaves(Type t, uint64_t offset);
  uint32_t leaf_index(Type t, std::span<const Operand> path);
  std::span<const ScalarId> parts(ValueId v);
  ScalarId part(ValueId v, uint32_t i = 0) { return parts(v)[i]; }
  void define(ValueId v, std::span<const ScalarId> scalars);
  void define_results(const Operation& o, std::span<const ScalarId> scalars);
  std::span<const ScalarId> args(const Operation& o, uint32_t i) {
    return parts(operand(o, i).value());
  }
  const Operand& operand(const Operation& o, uint32_t i) const {
    return d_.operands[o.operand_begin + i];
  }
  Type type_of(const Operation& o, uint32_t i) const { return d_.type_of(operand(o, i).value()); }
  Type result_type(const Operation& o) const { return d_.type_of(o.first_result); }

  // Scalars and nodes.
  ScalarId fresh(Scalar type);
  ScalarId constant(Scalar type, uint64_t bits);
  ScalarId number(Scalar type, double value);
  ScalarId pinned(Scalar type, Kind kind, Pinned how);
  Node& node(NodeKind kind);
  ScalarId emit(Op op, Scalar type, Scalar result, ScalarId a, ScalarId b = kNone,
                ScalarId c = kNone);
  ScalarId emit_convert(Scalar from, Scalar to, ScalarId a);
  bool is_constant(ScalarId s, uint64_t bits) const {
    return code_.scalars[s].pinned == Pinned::Constant && code_.scalars[s].bits == bits;
  }
  // Memory.
  Place place(const Operation& o, uint32_t first);
  ScalarId slot_pointer(SlotId slot);
  void add_index(Place& p, ValueId index, uint64_t stride);
  void memory_node(NodeKind kind, const Place& p, std::span<const ScalarId> scalars);
  void load_from(const Operation& o, const Place& p);
  ScalarId header(Scalar type, uint32_t offset);
  bool surely_inside(const Operation& o, ScalarId a, ScalarId b) const;

  // Flow.
  void body(BodyId b);
  uint32_t open(Region::Type type, NodeKind kind);
  void close(NodeKind kind);
  void leave(LeaveKind kind, uint32_t region, std::span<const ScalarId> to, const Operation& o);
  uint32_t enclosing(Region::Type type) const;
  Scalars fresh_for(ValueId first, uint32_t count);
  Scalars gather(const Operation& o, uint32_t first);
  void branch(ScalarId condition, const Operation& o, BodyId then_body, BodyId else_body);
  void arm(BodyId b, const Scalars& results, uint32_t owner, bool shared);
  void cases(const Operation& o, uint32_t at, const Scalars* results, uint32_t owner);
  void inline_body(BodyId b, Scalars& out);
  void move(ScalarId to, ScalarId from, uint32_t owner, bool shared = false);
  void declare(std::span<const ScalarId> scalars);
  bool empty_arm(BodyId b) const;
  bool yields(BodyId b) const;

  ScalarId warp_node(Op op, Scalar type, Scalar gives, ScalarId a, ScalarId lane = kNone);

  const KernelDescriptor& d_;
  Code code_;
  ArgumentBlock block_;
  struct Parts {
    ScalarId* at = nullptr;
    uint32_t count = 0;
  };
  std::vector<Parts> parts_;  // by value
  std::vector<std::unique_ptr<ScalarId[]>> chunks_;
  size_t chunk_left_ = 0;
  ScalarId* chunk_at_ = nullptr;
  Scalars dispatch_ids_[3];                         // every scalar that is dispatch_id's x, y or z
  std::unordered_map<uint32_t, LeafRange> leaves_;  // by type index
  std::unordered_map<uint64_t, ScalarId> constants_[kScalarCount];
  uint32_t region_ = 0;  // where nodes are appended

  // What the next Yield and Return of the body being walked do.
  struct Exit {
    const Scalars* to = nullptr;  // moves into these …
    Scalars* alias = nullptr;     // … or hands the scalars over
    uint32_t owner = kNone;
    bool shared = false;
  };
  Exit yield_, return_to_;
};

// What executes each operation; total over op.def.
using FlattenRow = void (Flattener::*)(const Operation&);
FlattenRow flatten_row(Op op);

}  // namespace lcpy::interp
