// Prints a descriptor's text form. Values are numbered as they appear, so the text depends on the
// program alone; it prints ill-formed descriptors too, since it is what one looks at then.
#include "kernel/text.h"

#include <bit>
#include <charconv>
#include <cmath>
#include <cstring>

#include "base/error.h"

namespace lcpy {
namespace {

class Printer {
 public:
  Printer(const KernelDescriptor& d, const TextOptions& options)
      : d_(d),
        options_(options),
        numbers_(d.values.size(), kUnnumbered),
        printed_(d.bodies.size(), 0) {
    out_.reserve(d.ops.size() * 32 + 256);
  }

  std::string run() {
    out_ += "kernel ";
    quoted(d_.name);
    out_ += " block";
    for (uint32_t n : d_.block_size) number(n, ' ');
    out_ += " math ";
    out_ += kMathWords[static_cast<int>(d_.math)];
    if (d_.view_offsets) out_ += " view_offsets";
    out_ += '\n';
    for (size_t i = 0; i < d_.slots.size(); i++) slot(i);
    for (size_t i = 0; i < d_.sites.size(); i++) site(i);
    for (size_t i = 0; i < d_.externals.size(); i++) external(i);
    for (size_t i = 0; i < d_.functions.size(); i++) function(i);
    return std::move(out_);
  }

 private:
  static constexpr uint32_t kUnnumbered = 0xffffffffu;

  void number(uint64_t n, char before = 0) {
    char text[24];
    if (before) out_ += before;
    out_.append(text, std::to_chars(text, text + sizeof text, n).ptr);
  }

  void quoted(std::string_view s) { quoted(s, options_.names); }
  void quoted(std::string_view s, bool whole) {
    out_ += '"';
    if (whole)
      for (char c : s) {
        if (c == '"' || c == '\\') out_ += '\\';
        if (c == '\n')
          out_ += "\\n";
        else
          out_ += c;
      }
    out_ += '"';
  }

  void span(const Span& s) {
    if (!options_.spans || !s.known()) return;
    out_ += " @";
    number(s.file);
    number(s.line, ':');
    number(s.column, ':');
    number(s.end_column, '-');
  }

  void slot(size_t index) {
    const Slot& s = d_.slots[index];
    out_ += "slot";
    number(index, ' ');
    out_ += ' ';
    quoted(s.name);
    out_ += ' ';
    out_ += kMemoryWords[static_cast<int>(s.memory)];
    out_ += ' ';
    out_ += s.type.description();
    out_ += ' ';
    out_ += kAccessWords[static_cast<int>(s.access)];
    out_ += " number";
    number(s.number, ' ');
    if (s.atomics) out_ += " atomics";
    if (s.length_used) out_ += " length";
    if (s.extents_used) out_ += " extents";
    if (s.report) out_ += " report";
    if (s.owner) {
      out_ += " owner";
      number(s.owner.value, ' ');
    }
    if (!s.data.empty()) {
      out_ += " data ";
      if (s.data.size() == s.type.size())
        constant(s.type, s.data.data());
      else
        out_ += "<wrong size>";
    }
    span(s.span);
    out_ += '\n';
  }

  // Its name and its texts are what it does: no matter of names.
  void external(size_t index) {
    const ExternalFunction& e = d_.externals[index];
    out_ += "external";
    number(index, ' ');
    out_ += ' ';
    quoted(e.symbol, true);
    if (e.returns) out_ += " returns";
    if (e.has_body) out_ += " body";
    out_ += " (";
    for (size_t i = 0; i < e.parameters.size(); i++) {
      const ExternalFunction::Parameter& p = e.parameters[i];
      if (i) out_ += ", ";
      out_ += kParameterWords[static_cast<int>(p.kind)];
      out_ += ' ';
      out_ += kAccessWords[static_cast<int>(p.access)];
      number(p.index, ' ');
    }
    out_ += ')';
    for (const auto& [language, source] : e.texts) {
      out_ += ' ';
      out_ += language;
      out_ += ' ';
      quoted(source, true);
    }
    out_ += '\n';
  }

  void site(size_t index) {
    const Site& s = d_.sites[index];
    out_ += "site";
    number(index, ' ');
    out_ += ' ';
    out_ += kSiteWords[static_cast<int>(s.kind)];
    out_ += ' ';
    quoted(s.text);
    out_ += " (";
    for (size_t i = 0; i < s.types.size(); i++) {
      if (i) out_ += ", ";
      out_ += s.types[i].description();
    }
    out_ += ')';
    span(s.span);
    out_ += '\n';
  }

  void params(std::span<const ValueId> values) {
    out_ += '(';
    for (size_t i = 0; i < values.size(); i++) {
      if (i) out_ += ", ";
      define(values[i]);
    }
    out_ += ')';
  }

  void function(size_t index) {
    const Function& f = d_.functions[index];
    out_ += "function";
    number(index, ' ');
    out_ += ' ';
    quoted(f.name);
    out_ += ' ';
    params(f.params);
    out_ += " -> (";
    for (size_t i = 0; i < f.results.size(); i++) {
      if (i) out_ += ", ";
      out_ += f.results[i].description();
    }
    out_ += ')';
    if (f.external != Function::kNotExternal) {
      out_ += " external";
      number(f.external, ' ');
    }
    span(f.span);
    out_ += ' ';
    body(f.body);
    out_ += '\n';
  }

  void body(BodyId id) {
    if (id.value >= d_.bodies.size() || printed_[id.value]) {
      out_ += "{ <body";
      number(id.value, ' ');
      out_ += id.value < d_.bodies.size() ? " again> }" : " missing> }";
      return;
    }
    printed_[id.value] = 1;
    const Body& b = d_.body(id);
    if (!b.params.empty()) {
      params(b.params);
      out_ += ' ';
    }
    out_ += "{\n";
    indent_ += 2;
    for (OpId op : b.ops) operation(op);
    indent_ -= 2;
    out_.append(indent_, ' ');
    out_ += '}';
  }

  void operation(OpId id) {
    out_.append(indent_, ' ');
    if (id.value >= d_.ops.size()) {
      out_ += "<missing operation>\n";
      return;
    }
    const Operation& o = d_.op(id);
    for (uint32_t i = 0; i < o.result_count; i++) {
      if (i) out_ += ", ";
      define(d_.result(o, i));
    }
    if (o.result_count) out_ += " = ";
    out_ += op_row(o.op).name;
    bool first = true;
    for (Operand x : d_.operands_of(o)) {
      out_ += first ? " " : ", ";
      first = false;
      operand(x);
    }
    if (o.flags) {
      out_ += ' ';
      number(o.flags, '!');
    }
    span(o.span);
    out_ += '\n';
  }

  void define(ValueId v) {
    if (v.value >= d_.values.size()) {
      out_ += "<missing value>";
      return;
    }
    if (numbers_[v.value] == kUnnumbered) numbers_[v.value] = next_++;
    number(numbers_[v.value], '%');
    out_ += ": ";
    out_ += d_.type_of(v).description();
  }

  void operand(Operand x) {
    switch (x.kind) {
      case Operand::Kind::Value:
        value(x.value());
        break;
      case Operand::Kind::Slot:
        number(x.index, '$');
        break;
      case Operand::Kind::Body:
        body(x.body());
        break;
      case Operand::Kind::Function:
        number(x.index, '&');
        break;
      case Operand::Kind::Imm:
        number(x.index);
        break;
    }
  }

  void value(ValueId v) {
    if (v.value >= d_.values.size()) {
      out_ += "<missing value>";
    } else if (d_.is_constant(v)) {
      constant(d_.type_of(v), d_.constant_bytes(v).data());
    } else {
      // A use before its definition gets its number here; the parser allows it, verify() does not.
      if (numbers_[v.value] == kUnnumbered) numbers_[v.value] = next_++;
      number(numbers_[v.value], '%');
    }
  }

  void constant(Type t, const std::byte* bytes) {
    out_ += t.description();
    out_ += '(';
    if (t.is_scalar()) {
      scalar(t.scalar(), bytes);
    } else {
      bool zero = true;
      for (uint64_t i = 0; i < t.size() && zero; i++) zero = bytes[i] == std::byte{0};
      if (zero)
        out_ += "zero";
      else
        components(t, bytes);
    }
    out_ += ')';
  }

  void components(Type t, const std::byte* bytes) {
    for (uint64_t i = 0; i < t.count(); i++) {
      if (i) out_ += ", ";
      const Type c = t.component(i);
      const std::byte* at = bytes + t.offset(i);
      if (c.is_scalar()) {
        scalar(c.scalar(), at);
      } else {
        out_ += '(';
        components(c, at);
        out_ += ')';
      }
    }
  }

  // Decimal where it reads back exactly, else "0x" and the bits.
  void scalar(Scalar s, const std::byte* bytes) {
    uint64_t bits = 0;
    const uint32_t size = scalar_size(s);
    for (uint32_t k = 0; k < size; k++) bits |= uint64_t(bytes[k]) << (8 * k);
    char text[40];
    char* end = text;
    const ScalarClass c = scalar_class(s);
    if (c == ScalarClass::Bool) {
      out_ += bits ? "true" : "false";
      return;
    }
    if (c == ScalarClass::Signed) {
      const int shift = 64 - static_cast<int>(size) * 8;
      end =
          std::to_chars(text, text + sizeof text, static_cast<int64_t>(bits << shift) >> shift).ptr;
    } else if (c == ScalarClass::Unsigned) {
      end = std::to_chars(text, text + sizeof text, bits).ptr;
    } else if (s == Scalar::Float32 &&
               std::isfinite(std::bit_cast<float>(static_cast<uint32_t>(bits)))) {
      end =
          std::to_chars(text, text + sizeof text, std::bit_cast<float>(static_cast<uint32_t>(bits)))
              .ptr;
    } else if (s == Scalar::Float64 && std::isfinite(std::bit_cast<double>(bits))) {
      end = std::to_chars(text, text + sizeof text, std::bit_cast<double>(bits)).ptr;
    } else {
      out_ += "0x";
      end = std::to_chars(text, text + sizeof text, bits, 16).ptr;
    }
    out_.append(text, end);
  }

  const KernelDescriptor& d_;
  TextOptions options_;
  std::vector<uint32_t> numbers_;
  std::vector<uint8_t> printed_;
  std::string out_;
  uint32_t next_ = 0;
  size_t indent_ = 0;
};

}  // namespace

std::string to_text(const KernelDescriptor& d, const TextOptions& options) {
  return Printer(d, options).run();
}
std::string to_text(const KernelDescriptor& d) { return to_text(d, TextOptions{}); }

}  // namespace lcpy
