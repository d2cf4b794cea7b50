// Which lanes of a warp are here, for dialects that name them: those whose control flow is, as the
// program reads, wherever the hardware has them. The kernel begins with all that there are. Where
// lanes part before an operation that asks, a vote of those here names the ones that go each way.
//
// Lanes that leave, by a break, a continue or a return, are told from those that stay by such a
// vote beforehand, if each arm has only the ones or the others. Else all of them meet after the
// arms and vote there: a lane that leaves sets a number, comes to the meeting, and goes on from
// there. The end of a loop's round is a meeting too. Lanes never pass a vote that names them.
#include <algorithm>

#include "base/error.h"
#include "emit/clike/emitter.h"

namespace lcpy::clike {

void Emitter::begin_lanes(FunctionId f) {
  lanes_ = names_lanes(f) ? "lanes" : "";
  lanes_count_ = 0;
  lanes_follow_ = false;
  meetings_.clear();
}

// Whether it must be known who goes there: who comes back, if an operation that asks follows.
bool Emitter::parts(BodyId arm) const {
  return traits_.names_lanes && (warps_[arm.value] || (lanes_follow_ && leaves_[arm.value]));
}

bool Emitter::parts(std::initializer_list<BodyId> arms) const {
  return std::any_of(arms.begin(), arms.end(), [&](BodyId arm) { return parts(arm); });
}

// The lanes that go to some of the arms: voted for, or the others of those voted for.
struct Emitter::Votes {
  using Chosen = std::vector<bool>;
  Emitter& e;
  std::span<const Arm> arms;
  std::vector<std::pair<Chosen, std::string>> known{};

  static std::string negated(const std::string& text) {
    return text.find(' ') == std::string::npos ? "!" + text : "!(" + text + ")";
  }

  static std::string any_of(std::span<const Arm> arms, const Chosen& chosen) {
    std::string text;
    for (size_t i = 0; i < arms.size(); i++)
      if (chosen[i]) text += (text.empty() ? "" : " || ") + arms[i].condition;
    return text;
  }

  std::string of(const Chosen& chosen) {
    Chosen others = chosen;
    others.flip();
    if (std::find(others.begin(), others.end(), true) == others.end()) return e.lanes_;
    for (const auto& [set, name] : known)
      if (set == chosen) return name;
    std::string name;
    for (const auto& [set, voted] : known) {
      if (set != others) continue;
      name = e.lanes_name();
      e.line() << "const " << e.dialect_.scalar(Scalar::UInt32) << ' ' << name << " = " << e.lanes_
               << " & ~" << voted << ";\n";
    }
    if (name.empty()) {
      bool rest = false;  // an arm without a condition is chosen: none of the others'
      for (size_t i = 0; i < arms.size(); i++) rest |= chosen[i] && arms[i].condition.empty();
      name = e.vote(rest ? negated(any_of(arms, others)) : any_of(arms, chosen));
    }
    known.emplace_back(chosen, name);
    return name;
  }
};

Emitter::Parting Emitter::part_lanes(std::span<const Arm> arms) {
  Parting parting{std::vector<std::string>(arms.size()), lanes_};
  Votes votes{*this, arms};
  Votes::Chosen staying(arms.size());
  bool leaves = false, mixed = false;
  for (size_t i = 0; i < arms.size(); i++) {
    const bool some_leave = leaves_[arms[i].body.value];
    staying[i] = ends_with(arms[i].body, Op::Yield);
    leaves |= some_leave;
    mixed |= some_leave && staying[i];
  }
  for (size_t i = 0; i < arms.size(); i++) {
    Votes::Chosen one(arms.size());
    one[i] = true;
    if (warps_[arms[i].body.value]) parting.lanes[i] = votes.of(one);
  }
  if (!leaves || !lanes_follow_) return parting;
  parting.meets = mixed;
  // What follows arms that nobody comes back from is never reached.
  const bool any = std::find(staying.begin(), staying.end(), true) != staying.end();
  if (!mixed && any) parting.after = votes.of(staying);
  return parting;
}

void Emitter::arm(BodyId id, const std::string& lanes) {
  std::string outside = lanes;
  std::swap(lanes_, outside);
  nested(id);
  std::swap(lanes_, outside);
}

// Names those of the lanes that are here for which it holds.
std::string Emitter::vote(std::string_view condition) {
  const std::string name = lanes_name();
  line() << "const " << dialect_.scalar(Scalar::UInt32) << ' ' << name << " = ";
  dialect_.open_vote(out_, lanes_);
  out_ << condition << ");\n";
  return name;
}

void Emitter::open_meeting(BodyId id) {
  Meeting m;
  m.label = "meet" + std::to_string(id.value);
  m.left = meetings_.empty() ? "left" + std::to_string(id.value) : meetings_.back().left;
  if (meetings_.empty()) line() << "int " << m.left << " = 0;\n";
  meetings_.push_back(std::move(m));
}

// Behind the arms, with the lanes that were there before them.
void Emitter::close_meeting() {
  const Meeting m = std::move(meetings_.back());
  meetings_.pop_back();
  line() << m.label << ":\n";
  lanes_ = vote(m.left + " == 0");
  line() << "if (" << m.left << ") ";
  if (meetings_.empty())
    return_kept();
  else
    out_ << "goto " << meetings_.back().label << ";\n";
}

void Emitter::open_rounds(BodyId loop) {
  Meeting m;
  m.label = "next" + std::to_string(loop.value);
  m.left = "left" + std::to_string(loop.value);
  m.is_round = true;
  const std::string round = lanes_name();
  line() << "int " << m.left << " = 0;\n";
  line() << dialect_.scalar(Scalar::UInt32) << ' ' << round << " = " << lanes_ << ";\n";
  lanes_ = round;
  meetings_.push_back(std::move(m));
}

void Emitter::close_rounds() {
  const Meeting m = std::move(meetings_.back());
  meetings_.pop_back();
  line() << "  }\n";
  line() << m.label << ":\n";
  if (m.continues) line() << "  if (" << m.left << " == 3) " << m.left << " = 0;\n";
  line() << "  " << lanes_ << " = ";
  dialect_.open_vote(out_, lanes_);
  out_ << m.left << " == 0);\n";
  line() << "  if (" << m.left << ") break;\n";
}

// Behind a loop that lanes left by a return from within: they go on to where that leads.
void Emitter::returned(BodyId loop, bool lanes_follow) {
  const std::string left = "left" + std::to_string(loop.value);
  if (lanes_follow) lanes_ = vote(left + " != 2");
  line() << "if (" << left << " == 2) {\n";
  indent_ += "  ";
  if (meetings_.empty()) {
    line();
    return_kept();
  } else {
    leave(Leave::Return);
  }
  indent_.resize(indent_.size() - 2);
  line() << "}\n";
}

// To the next meeting. Who only goes on with the loop's next round has not left that one.
void Emitter::leave(Leave how) {
  LCPY_CHECK(!meetings_.empty());
  const Meeting& to = meetings_.back();
  if (how != Leave::Continue || !to.is_round) {
    line();
    dialect_.set_unseen(out_, to.left, static_cast<uint32_t>(how));
    out_ << '\n';
  }
  if (how == Leave::Continue) {
    size_t round = meetings_.size() - 1;
    while (!meetings_[round].is_round) round--;
    meetings_[round].continues |= !to.is_round;
  }
  line() << "goto " << to.label << ";\n";
}

// Whether returns from within keep the function's results in variables, to return from elsewhere.
bool Emitter::keeps_results(FunctionId f) const {
  return names_lanes(f) && !d_.functions[f.value].results.empty();
}

void Emitter::return_kept() {
  const size_t count = d_.functions[function_.value].results.size();
  out_ << "return";
  if (count > 1) out_ << " R" << function_.value << '{';
  for (size_t i = 0; i < count; i++) out_ << (i ? ", " : count > 1 ? "" : " ") << "kept" << i;
  out_ << (count > 1 ? "};\n" : ";\n");
}

}  // namespace lcpy::clike
