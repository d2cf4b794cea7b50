#include "spirv/disassemble.h"

#include <algorithm>
#include <optional>
#include <unordered_map>

#include "spirv/literal.h"
#include "spirv/names.h"
#include "spirv/nesting.h"

namespace lcpy::spirv {
namespace {

class Disassembler {
 public:
  Disassembler(std::span<const Word> words, const DisassembleOptions& options)
      : words_(words), options_(options) {
    if (!options.raw_ids) names_.emplace(words);
  }

  std::string run() {
    Reader reader(words_);
    out_.reserve(words_.size() * 12);
    if (options_.header) header(reader.header());
    ReadInstruction i;
    while (reader.next(&i)) {
      if (options_.comments) heading(i);
      if (!options_.nested && !options_.reorder)
        instruction(i);
      else
        keep(i);
    }
    blocks();
    return std::move(out_);
  }

 private:
  static constexpr size_t kIndent = 15, kComments = 52;  // columns
  static constexpr std::string_view kPlain = "\x1b[0m", kRed = "\x1b[31m", kGreen = "\x1b[32m",
                                    kYellow = "\x1b[33m", kBlue = "\x1b[34m", kGrey = "\x1b[1;30m";

  void header(const Header& h) {
    out_ += "; SPIR-V\n; Version: ";
    write_decimal(out_, h.version >> 16 & 0xff);
    out_ += '.';
    write_decimal(out_, h.version >> 8 & 0xff);
    out_ += "\n; Generator: ";
    const Word tool = h.generator >> 16;
    const std::string_view name = generator_name(tool);
    if (name.empty()) {
      out_ += "Unknown(";
      write_decimal(out_, tool);
      out_ += ')';
    } else {
      out_ += name;
    }
    out_ += "; ";
    write_decimal(out_, h.generator & 0xffff);
    out_ += "\n; Bound: ";
    write_decimal(out_, h.bound);
    out_ += "\n; Schema: ";
    write_decimal(out_, h.schema);
    out_ += '\n';
  }

  void id(Word value) {
    if (names_)
      names_->write(out_, value);
    else
      write_decimal(out_, value);
  }

  // The result's name ends where all others do, as far as it fits.
  void result(Word value) {
    const size_t from = out_.size();
    out_ += '%';
    id(value);
    const size_t length = out_.size() - from, wide = kIndent - 3;
    if (options_.indent && length < wide) out_.insert(from, wide - length, ' ');
    if (options_.colors) {
      out_.insert(from, kBlue);
      painted_ += kBlue.size();
      paint(kPlain);
    }
    out_ += " = ";
  }

  // Escape sequences take no place on the line.
  void paint(std::string_view colour) {
    if (!options_.colors) return;
    out_ += colour;
    painted_ += colour.size();
  }

  // ---- blocks --------------------------------------------------------------------------------

  struct Kept {
    ReadInstruction instruction;
    std::vector<ReadOperand> operands;
  };

  // A function's blocks wait for its end.
  void keep(const ReadInstruction& i) {
    if (i.info.opcode == Opcode::Label) kept_.emplace_back();
    if (i.info.opcode == Opcode::FunctionEnd) blocks();
    if (kept_.empty()) return instruction(i);
    Kept& k = kept_.back().emplace_back();
    k.operands.assign(i.operands.begin(), i.operands.end());
    k.instruction = i;
  }

  static BlockEdges edges(const std::vector<Kept>& block) {
    BlockEdges e;
    e.label = block[0].instruction.result;
    const ReadInstruction& end = block.back().instruction;
    if (block.size() >= 3) {
      const ReadInstruction& merge = block[block.size() - 2].instruction;
      const bool loop = merge.info.opcode == Opcode::LoopMerge;
      if (loop || merge.info.opcode == Opcode::SelectionMerge) e.merge = merge.words[1];
      if (loop) e.next_turn = merge.words[2];
    }
    switch (end.info.opcode) {
      case Opcode::Branch:
        (e.merge ? e.body : e.next) = end.words[1];
        break;
      case Opcode::BranchConditional:
        e.sides = {end.words[2], end.words[3]};
        break;
      case Opcode::Switch:
        for (size_t k = 1; k < block.back().operands.size(); k += 2)
          e.cases.push_back(end.words[block.back().operands[k].at]);
        break;
      default:
        break;
    }
    return e;
  }

  void blocks() {
    std::vector<BlockEdges> shapes;
    for (const std::vector<Kept>& block : kept_) shapes.push_back(edges(block));
    const Nesting found = nesting(shapes);
    for (size_t k = 0; k < kept_.size(); k++) {
      const size_t block = options_.reorder ? found.order[k] : k;
      for (Kept& kept : kept_[block]) {
        kept.instruction.operands = kept.operands;
        instruction(kept.instruction, options_.nested ? &found.levels[block] : nullptr);
      }
    }
    kept_.clear();
  }

  void instruction(const ReadInstruction& i, const uint32_t* level = nullptr) {
    const bool label = i.info.opcode == Opcode::Label;
    if (options_.nested && label) out_ += '\n';
    const size_t from = out_.size();
    painted_ = 0;
    if (i.result)
      result(i.result);
    else if (options_.indent)
      out_.append(kIndent, ' ');
    if (level) out_.append(*level * 2 + (label ? 0 : 2), ' ');
    out_ += "Op";
    out_ += i.info.name;
    for (const ReadOperand& o : i.operands) {
      if (o.kind == Kind::IdResult) continue;
      out_ += ' ';
      operand(i, o);
      paint(kPlain);
    }
    if (options_.comments && i.info.opcode == Opcode::Decorate) note_decoration(i);
    if (options_.offsets || options_.comments) comment(i, out_.size() - from - painted_);
    out_ += '\n';
  }

  // ---- comments ------------------------------------------------------------------------------

  // Above the first of a kind.
  void heading(const ReadInstruction& i) {
    const auto write = [&](std::string_view text) {
      out_ += '\n';
      if (options_.indent) out_.append(kIndent, ' ');
      out_ += "; ";
      out_ += text;
    };
    if (i.info.opcode == Opcode::Function) {
      if (options_.nested) out_ += '\n';
      write("Function ");
      id(i.result);
      out_ += '\n';
    }
    struct Part {
      Group group;
      std::string_view title;
    };
    static constexpr Part kParts[] = {{Group::Annotation, "Annotations"},
                                      {Group::Debug, "Debug Information"},
                                      {Group::Type, "Types, variables and constants"}};
    for (const Part& part : kParts) {
      bool& titled = titled_[static_cast<size_t>(part.group)];
      if (i.info.group != part.group || titled) continue;
      titled = true;
      write(part.title);
      out_ += '\n';
    }
  }

  // The text of a decoration, for the comment of what it decorates.
  void note_decoration(const ReadInstruction& i) {
    const size_t from = out_.size(), painted = painted_;
    for (size_t k = 1; k < i.operands.size(); k++) {
      if (k > 1) out_ += ' ';
      operand(i, i.operands[k]);
      paint(kPlain);
    }
    std::string& all = decorations_[i.words[1]];
    if (!all.empty()) all += ", ";
    all.append(out_, from);
    out_.resize(from);
    painted_ = painted;
  }

  // Comments of lines that follow one another stand below one another, as far to the right as the
  // longest of these so far asks for.
  void comment(const ReadInstruction& i, size_t length) {
    const size_t from = out_.size();
    const auto part = [&] { out_ += out_.size() == from ? "; " : ", "; };
    if (options_.offsets) {
      part();
      paint(kGrey);
      out_ += "0x";
      const size_t bytes = i.at * 4;
      for (int shift = 28; shift >= 0; shift -= 4) out_ += "0123456789abcdef"[bytes >> shift & 15];
      paint(kPlain);
    }
    if (options_.comments && i.result) {
      const auto at = decorations_.find(i.result);
      if (at != decorations_.end()) {
        part();
        out_ += at->second;
      }
    }
    if (options_.comments && i.info.opcode == Opcode::Name) {
      part();
      out_ += "id %";
      write_decimal(out_, i.words[1]);
    }
    if (out_.size() == from) {
      comment_column_ = kComments;
      return;
    }
    constexpr size_t kStep = 4, kFarthest = 256;
    const size_t column = std::max(comment_column_, (length + 2 + kStep - 1) / kStep * kStep);
    out_.insert(from, column - length, ' ');
    comment_column_ = std::min(column, kFarthest);
  }

  void operand(const ReadInstruction& i, const ReadOperand& o) {
    const Word word = i.words[o.at];
    switch (o.kind) {
      case Kind::LiteralString:
        return string(i, o);
      case Kind::LiteralExtInstInteger: {
        ExtendedInstruction found;
        paint(kRed);
        if (find_extended(i.set, word, &found))
          out_ += found.name;
        else
          write_decimal(out_, word);
        return;
      }
      case Kind::LiteralSpecConstantOpInteger: {
        InstructionInfo found;
        find_instruction(word, &found);
        paint(kRed);
        out_ += found.name;
        return;
      }
      default:
        break;
    }
    switch (category(o.kind)) {
      case Category::Id:
        paint(kYellow);
        out_ += '%';
        return id(word);
      case Category::Value:
        return value(o.kind, word);
      case Category::Mask:
        return mask(o.kind, word);
      default:
        paint(kRed);
        write_number(out_, o.type, i.words.subspan(o.at, o.words));
        return paint(kPlain);
    }
  }

  void value(Kind kind, Word word) { out_ += name_of(kind, word); }

  void mask(Kind kind, Word word) {
    if (word == 0) return value(kind, 0);
    for (Word rest = word; rest; rest &= rest - 1) {
      if (rest != word) out_ += '|';
      value(kind, rest & (0 - rest));
    }
  }

  void string(const ReadInstruction& i, const ReadOperand& o) {
    out_ += '"';
    paint(kGreen);
    for (const char c : i.text(o)) {
      if (c == '"' || c == '\\') out_ += '\\';
      out_ += c;
    }
    paint(kPlain);
    out_ += '"';
  }

  std::span<const Word> words_;
  const DisassembleOptions& options_;
  std::optional<FriendlyNames> names_;
  std::string out_;
  bool titled_[4] = {};
  size_t comment_column_ = kComments, painted_ = 0;
  std::unordered_map<Word, std::string> decorations_;  // by id
  std::vector<std::vector<Kept>> kept_;                // of the function at hand, by block
};

}  // namespace

std::string disassemble(std::span<const Word> words, const DisassembleOptions& options) {
  return Disassembler(words, options).run();
}

}  // namespace lcpy::spirv
