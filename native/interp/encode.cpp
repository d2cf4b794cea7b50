// Places in the register file: cells and rows are given when a scalar starts to live and taken back
// when it ends, so that what is in use stays in the first-level cache.
#include "interp/encode.h"

#include <algorithm>
#include <cstring>

namespace lcpy::interp {
namespace {

// Rows are numbered apart from cells until the number of cells is known.
constexpr uint32_t kRowFlag = 0x80000000u;
// Constants that are needed as rows get one for good, up to so many.
constexpr uint32_t kConstantRows = 24;

}  // namespace

Encoder::Encoder(Code& code, const Loops& loops, Program& program)
    : code_(code), loops_(loops), program_(program), labels_(code.regions.size()) {
  dying_.assign(code.nodes.size(), kNone);
  dies_next_.assign(code.scalars.size(), kNone);
  for (auto& rows : constant_rows_) rows.assign(code.scalars.size(), kNone);
  for (ScalarId s = 0; s < code.scalars.size(); ++s) {
    const ScalarInfo& info = code.scalars[s];
    if (info.pinned != Pinned::No || info.first == kNone) continue;
    dies_next_[s] = dying_[info.last];
    dying_[info.last] = s;
  }
  out_.reserve(code.nodes.size() * 5 / 4 + 16);
}

uint32_t Encoder::new_cell() {
  if (!free_cells_.empty()) {
    const uint32_t c = free_cells_.back();
    free_cells_.pop_back();
    return c;
  }
  cells_ += 8;
  return cells_ - 8;
}
uint32_t Encoder::new_row(uint32_t bytes) {
  auto& free = free_rows_[size_index(bytes)];
  if (!free.empty()) {
    const uint32_t r = free.back();
    free.pop_back();
    return r;
  }
  rows_ += bytes * kLanes;
  return (rows_ - bytes * kLanes) | kRowFlag;
}
void Encoder::free_place(uint32_t place, Scalar type, Kind kind) {
  if (kind == Kind::Varying && type != Scalar::Bool)
    free_rows_[size_index(scalar_size(type))].push_back(place);
  else
    free_cells_.push_back(place);
}

uint32_t Encoder::define(ScalarId s) {
  ScalarInfo& info = code_.scalars[s];
  if (info.place == kNone)
    info.place = info.kind == Kind::Varying && info.type != Scalar::Bool
                     ? new_row(scalar_size(info.type))
                     : new_cell();
  return info.place;
}
void Encoder::release(uint32_t node) {
  for (ScalarId s = dying_[node]; s != kNone; s = dies_next_[s]) {
    ScalarInfo& info = code_.scalars[s];
    if (info.place == kNone) continue;
    free_place(info.place, info.type, info.kind);
    info.place = kNone;
  }
}

uint32_t Encoder::temporary_row(uint32_t bytes) {
  const uint32_t r = new_row(bytes);
  temporary_rows_.push_back({r, static_cast<uint32_t>(size_index(bytes))});
  return r;
}
uint32_t Encoder::temporary_cell() {
  temporary_cells_.push_back(new_cell());
  return temporary_cells_.back();
}
void Encoder::release_temporaries() {
  for (auto [r, size] : temporary_rows_) free_rows_[size].push_back(r);
  for (uint32_t c : temporary_cells_) free_cells_.push_back(c);
  temporary_rows_.clear();
  temporary_cells_.clear();
}

uint32_t Encoder::as_row(ScalarId s, uint32_t bytes) {
  const ScalarInfo& info = code_.scalars[s];
  if (info.kind == Kind::Varying) return info.place;
  const int k = size_index(bytes);
  if (info.kind == Kind::Linear) {
    const uint32_t r = temporary_row(bytes);
    put(loops_.ramp[k - 2], r, info.place);
    return r;
  }
  if (info.pinned == Pinned::Constant) {
    uint32_t& fixed = constant_rows_[k][s];
    if (fixed == kNone && constant_row_count_ < kConstantRows) {
      ++constant_row_count_;
      // Not from the free list, whose rows other scalars write.
      fixed = rows_ | kRowFlag;
      rows_ += bytes * kLanes;
      row_images_.push_back({fixed, s});
    }
    if (fixed != kNone) return fixed;
  }
  const uint32_t r = temporary_row(bytes);
  put(loops_.spread[k], r, info.place);
  return r;
}

// Constants, ids and pointers have places of their own from the start.
void Encoder::pin() {
  for (ScalarInfo& s : code_.scalars) {
    if (s.pinned == Pinned::No) continue;
    s.place = s.pinned == Pinned::Row ? new_row(scalar_size(s.type)) : new_cell();
  }
}

Instr& Encoder::put(Fn fn, uint32_t d, uint32_t a, uint32_t b, uint32_t c) {
  LCPY_CHECK(fn != nullptr);
  Instr& i = out_.emplace_back();
  i.fn = fn;
  i.d = d, i.a = a, i.b = b, i.c = c;
  return i;
}

void Encoder::finish() {
  const uint32_t base = (cells_ + 63) & ~63u;
  const auto resolve = [&](uint32_t p) {
    return p != kNone && (p & kRowFlag) ? (p & ~kRowFlag) + base : p;
  };
  for (Instr& i : out_) {
    i.d = resolve(i.d);
    i.a = resolve(i.a);
    i.b = resolve(i.b);
    i.c = resolve(i.c);
  }
  for (auto [i, place] : wished_) out_[i].stride = static_cast<int32_t>(resolve(place));
  program_.file_size = base + ((rows_ + 63) & ~63u);
  program_.image.assign(program_.file_size, std::byte{0});
  for (const ScalarInfo& s : code_.scalars)
    if (s.pinned == Pinned::Constant) std::memcpy(program_.image.data() + s.place, &s.bits, 8);
  for (auto [place, s] : row_images_) {
    const uint32_t bytes = scalar_size(code_.scalars[s].type);
    for (uint32_t l = 0; l < kLanes; ++l)
      std::memcpy(program_.image.data() + resolve(place) + l * bytes, &code_.scalars[s].bits,
                  bytes);
  }
  const auto pinned_at = [&](ScalarId s) {
    return s == kNone ? kNone : resolve(code_.scalars[s].place);
  };
  for (int i = 0; i < 3; ++i) {
    program_.thread[i] = pinned_at(code_.thread[i]);
    program_.thread_is_row[i] =
        code_.thread[i] != kNone && code_.scalars[code_.thread[i]].pinned == Pinned::Row;
    program_.block[i] = pinned_at(code_.block[i]);
    program_.dispatch[i] = pinned_at(code_.dispatch[i]);
    program_.size[i] = pinned_at(code_.size[i]);
  }
  program_.arguments_cell = pinned_at(code_.arguments);
  for (size_t i = 0; i < code_.slots.size(); ++i) {
    program_.slots[i].cell = pinned_at(code_.slots[i]);
    program_.slots[i].at = code_.slot_at[i];
  }
  program_.shared_bytes = code_.shared_bytes;
  program_.scratch_bytes = code_.scratch_bytes * kLanes;
  program_.strips = code_.strips;
  program_.code = std::move(out_);
}

void Encoder::run() {
  pin();
  for (uint32_t i = 0; i < code_.nodes.size(); ++i) {
    node(code_.nodes[i], i);
    release_temporaries();
    release(i);
  }
  finish();
}

void Encoder::node(const Node& n, uint32_t index) {
  switch (n.kind) {
    case NodeKind::Element:
      return element(n, index);
    case NodeKind::Mask:
      return mask(n, index);
    case NodeKind::Convert:
      return convert(n, index);
    case NodeKind::Choose:
      return choose(n, index);
    case NodeKind::Load:
      return load(n, index);
    case NodeKind::Store:
      return store(n);
    case NodeKind::Atomic:
      return atomic(n, index);
    case NodeKind::Warp:
      return warp(n, index);
    case NodeKind::Move:
      return move(n, index);
    case NodeKind::Declare:
      if (code_.scalars[n.d].last > index) define(n.d);
      return;
    case NodeKind::If:
      return begin_if(n);
    case NodeKind::Else:
      return begin_else(n);
    case NodeKind::EndIf:
      return end_if(n);
    case NodeKind::Loop:
      return begin_loop(n);
    case NodeKind::Latch:
      return latch(n);
    case NodeKind::EndLoop:
      return end_loop(n);
    case NodeKind::Call:
      return begin_call(n);
    case NodeKind::EndCall:
      return end_call(n);
    case NodeKind::Leave:
      return leave(n);
    case NodeKind::Barrier:
      put(flow::barrier());
      return;
  }
}

void encode(Code& code, const Loops& loops, Program& program) {
  Encoder(code, loops, program).run();
}

}  // namespace lcpy::interp
