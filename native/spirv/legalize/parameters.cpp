// A function is made anew for each set of places that its pointers may be: globals are named in it,
// and what it is given is the indices on the way from there. Nothing is copied in and out, so that
// pointers that meet still meet.
#include <algorithm>
#include <array>
#include <map>
#include <unordered_set>

#include "base/error.h"
#include "spirv/legalize/fixups.h"
#include "spirv/legalize/places.h"

namespace lcpy::spirv {
namespace {

class Specialiser {
 public:
  explicit Specialiser(Editor& e) : e_(e) {
    for (size_t f = 0; f < e_.functions.size(); f++)
      function_of_[e_.functions[f].front()->result()] = f;
  }

  void run() {
    find_movers();
    if (!needed()) return;
    std::vector<Word> roots;
    for (const Instruction* i : e_.head)
      if (i->opcode() == Opcode::EntryPoint) roots.push_back(i->words[2]);
    const bool entered = !roots.empty();
    if (!entered)
      for (const Editor::Code& f : e_.functions) roots.push_back(f.front()->result());
    for (const Word root : roots) reach(root);
    for (size_t k = 0; k < open_.size(); k++) visit(open_[k]);
    if (!copies_.empty()) describe();
    if (entered) drop_replaced();
  }

 private:
  static constexpr size_t kMost = 10000;  // functions made

  struct Given {
    Word root = 0;            // a global; 0 where it is a parameter of the new function
    Word type = 0;            // of the root
    std::vector<Word> path;   // constants; 0 where an index is given
    std::vector<Word> types;  // of those
    bool plain = true;        // given as it is
    auto operator<=>(const Given&) const = default;
  };

  bool needed() const {
    for (const Editor::Code& f : e_.functions)
      for (const Instruction* i : f)
        if (i->opcode() == Opcode::FunctionCall && needs(*i)) return true;
    return false;
  }

  void reach(Word function) {
    if (function_of_.contains(function) && reached_.insert(function).second)
      open_.push_back(function);
  }

  // Functions that move pointers by elements or choose among them, and all that call such.
  void find_movers() {
    std::unordered_map<Word, std::vector<Word>> callers;
    std::vector<Word> open;
    for (const Editor::Code& f : e_.functions) {
      const Word function = f.front()->result();
      bool moves = false;
      for (const Instruction* i : f) {
        moves = moves || gives_free_pointer(e_, *i);
        if (i->opcode() == Opcode::FunctionCall) callers[i->operands()[0]].push_back(function);
      }
      if (moves && moves_.insert(function).second) open.push_back(function);
    }
    while (!open.empty()) {
      const Word function = open.back();
      open.pop_back();
      for (const Word caller : callers[function])
        if (moves_.insert(caller).second) open.push_back(caller);
    }
  }

  bool is_object(Word pointer) const {
    const Opcode code = e_.opcode_of(pointer);
    return code == Opcode::Variable || code == Opcode::FunctionParameter;
  }

  bool needs(const Instruction& call) const {
    for (const Word argument : call.operands().subspan(1)) {
      const Word type = e_.type_of(argument);
      if (!e_.is_pointer(type)) continue;
      const StorageClass storage = e_.storage_of(type);
      if (pointers_vary(e_, storage)) continue;
      switch (storage) {
        case StorageClass::UniformConstant:
        case StorageClass::AtomicCounter:
        case StorageClass::Image:
          continue;
        case StorageClass::Function:
        case StorageClass::Private:
        case StorageClass::Workgroup:
          if (is_object(argument) && !moves_.contains(call.operands()[0])) continue;
          return true;
        default:
          return true;
      }
    }
    return false;
  }

  void visit(Word function) {
    // By index: specialising adds functions.
    const size_t at = function_of_[function];
    settle_pointers(e_, e_.functions[at]);
    Editor::Code calls;
    for (Instruction* i : e_.functions[at])
      if (i->opcode() == Opcode::FunctionCall) calls.push_back(i);
    if (calls.empty()) return;
    Places places(e_, e_.functions[at]);
    for (Instruction* call : calls) {
      if (needs(*call))
        redirect(call, places);
      else
        reach(call->operands()[0]);
    }
  }

  void redirect(Instruction* call, Places& places) {
    const Word callee = call->operands()[0];
    if (!function_of_.contains(callee)) e_.refuse(*call, "nothing of the function is known");
    std::vector<Given> key;
    std::vector<Word> arguments = {0};
    for (const Word argument : call->operands().subspan(1)) {
      Given& given = key.emplace_back();
      if (!e_.is_pointer(e_.type_of(argument)) ||
          pointers_vary(e_, e_.storage_of(e_.type_of(argument)))) {
        arguments.push_back(argument);
        continue;
      }
      const Place& place = places.of(argument);
      const Instruction* root = e_.definition(place.root);
      if (!root || !e_.is_pointer(root->type())) e_.refuse(*call, "an argument points nowhere");
      given.plain = false;
      given.type = e_.type_of(place.root);
      if (root->global)
        given.root = place.root;
      else if (root->opcode() == Opcode::Load)
        e_.refuse(*root,
                  "it reads a pointer from memory (compilers that optimise leave none there)");
      else if (!is_object(place.root))
        e_.refuse(*root, "where it points is not known, and a function is given it");
      else
        arguments.push_back(place.root);
      for (const Word index : place.path) {
        const bool fixed =
            e_.opcode_of(index) == Opcode::Constant || e_.opcode_of(index) == Opcode::ConstantNull;
        given.path.push_back(fixed ? index : 0);
        if (fixed) continue;
        given.types.push_back(e_.type_of(index));
        arguments.push_back(index);
      }
    }
    auto& made = made_[{callee, key}];
    if (!made) {
      if (++count_ > kMost)
        throw UnsupportedError(make_diagnostic(
            Diag::limit_exceeded, {},
            {"the number of functions made for their pointers", "too large", "lcpy", "10,000"}));
      made = specialise(callee, key, *call);
    }
    replaced_.insert(callee);
    arguments[0] = made;
    *call = *e_.make(Opcode::FunctionCall, call->type(), call->result(), arguments, call->at);
    e_.define(call);
    reach(made);
  }

  Word specialise(Word callee, const std::vector<Given>& key, const Instruction& call) {
    const Editor::Code original = e_.functions[function_of_[callee]];
    std::unordered_map<Word, Word> ids;
    for (const Instruction* i : original)
      if (i->result()) ids[i->result()] = e_.new_id();
    Editor::Code chains, body;
    std::vector<Word> types;
    const auto parameter = [&](Word type, Word id) {
      types.push_back(type);
      body.push_back(e_.make(Opcode::FunctionParameter, type, id, {}, call.at));
      return id;
    };
    size_t next = 0;
    bool entry = true;
    for (const Instruction* i : original) {
      if (i->opcode() == Opcode::FunctionParameter) {
        if (next >= key.size()) e_.refuse(call, "it gives fewer arguments than the function takes");
        const Given& given = key[next++];
        const Word own = ids[i->result()];
        if (given.plain) {
          parameter(i->type(), own);
          continue;
        }
        const bool whole = given.path.empty();
        if (whole && !given.root) {
          parameter(given.type, own);
          continue;
        }
        std::vector<Word> operands;
        operands.push_back(given.root ? given.root : parameter(given.type, e_.new_id()));
        size_t type = 0;
        for (const Word index : given.path)
          operands.push_back(index ? index : parameter(given.types[type++], e_.new_id()));
        const Opcode code_of = whole ? Opcode::CopyObject : Opcode::AccessChain;
        const bool generic =
            e_.is_pointer(i->type()) && e_.storage_of(i->type()) == StorageClass::Generic;
        const Word type_of =
            generic ? e_.pointer_type(e_.storage_of(given.type), e_.pointee(i->type())) : i->type();
        chains.push_back(e_.make(code_of, type_of, own, operands, i->at));
        continue;
      }
      const bool starts = i->opcode() == Opcode::Label || i->opcode() == Opcode::Variable ||
                          i->opcode() == Opcode::Function || i->opcode() == Opcode::Line ||
                          i->opcode() == Opcode::NoLine;
      if (entry && !starts) {
        body.insert(body.end(), chains.begin(), chains.end());
        entry = false;
      }
      Instruction* copy = e_.copy(*i);
      for (const uint16_t at : copy->ids)
        if (const auto found = ids.find(copy->words[at]); found != ids.end())
          copy->words[at] = found->second;
      e_.define(copy);
      body.push_back(copy);
    }
    // The parameters' order in the call: each pointer's root, then its indices.
    body.front()->words[4] = e_.function_type(original.front()->type(), types);
    const Word made = body.front()->result();
    function_of_[made] = e_.functions.size();
    e_.functions.push_back(std::move(body));
    for (const auto& [id, copy] : ids) copies_[id].push_back(copy);
    return made;
  }

  // Names and decorations of what was copied.
  void describe() {
    Editor::Code head;
    for (Instruction* i : e_.head) {
      head.push_back(i);
      switch (i->opcode()) {
        case Opcode::Name:
        case Opcode::Decorate:
        case Opcode::DecorateId:
        case Opcode::DecorateString:
          if (const auto found = copies_.find(i->words[1]); found != copies_.end())
            for (const Word id : found->second) {
              head.push_back(e_.copy(*i));
              head.back()->words[1] = id;
            }
          break;
        case Opcode::GroupDecorate:
          for (size_t k = 2, count = i->words.size(); k < count; k++)
            if (const auto found = copies_.find(i->words[k]); found != copies_.end())
              for (const Word id : found->second) {
                i->ids.push_back(static_cast<uint16_t>(i->words.size()));
                i->words.push_back(id);
              }
          if (i->words.size() > kMaxInstructionWords)
            throw UnsupportedError(
                make_diagnostic(Diag::limit_exceeded, {},
                                {"a group of decorations", "too large", "SPIR-V", "65,535 words"}));
          i->resize();
          break;
        default:
          break;
      }
    }
    e_.head = std::move(head);
  }

  // What was made anew and is called no more.
  void drop_replaced() {
    std::unordered_set<Word> gone;
    std::erase_if(e_.functions, [&](const Editor::Code& f) {
      const Word function = f.front()->result();
      if (!replaced_.contains(function) || reached_.contains(function)) return false;
      for (const Instruction* i : f)
        if (i->result()) gone.insert(i->result());
      return true;
    });
    if (!gone.empty()) e_.forget(gone);
  }

  Editor& e_;
  std::unordered_map<Word, size_t> function_of_;
  std::unordered_set<Word> moves_;
  std::unordered_set<Word> reached_, replaced_;
  std::vector<Word> open_;
  std::map<std::pair<Word, std::vector<Given>>, Word> made_;
  std::unordered_map<Word, std::vector<Word>> copies_;  // by id of the original
  size_t count_ = 0;
};

}  // namespace

void settle_parameters(Editor& e) { Specialiser(e).run(); }

}  // namespace lcpy::spirv
