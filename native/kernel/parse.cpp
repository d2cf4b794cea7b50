// Reads the text form back. The form is described in kernel/README.md. Damaged text is a LoadError
// with line and column; ill-formed programs that the text can express are left to verify().
#include <bit>
#include <charconv>
#include <cstring>
#include <unordered_map>

#include "base/error.h"
#include "kernel/text.h"

namespace lcpy {
namespace {

constexpr int kDeepest = 200;  // bodies within bodies; verify() refuses far fewer

class Parser {
 public:
  explicit Parser(std::string_view text) : text_(text), builder_(d_) {}

  KernelDescriptor run() {
    word("kernel");
    d_.name = quoted();
    word("block");
    for (uint32_t& n : d_.block_size) n = number32();
    word("math");
    d_.math = static_cast<MathMode>(choice(kMathWords, "a math mode"));
    d_.view_offsets = accept_word("view_offsets");
    while (accept_word("slot")) slot();
    while (accept_word("site")) site();
    while (accept_word("external")) external();
    while (accept_word("function")) function();
    skip_space();
    if (at_ != text_.size()) bad("expected 'function' or the end");
    if (d_.functions.empty()) bad("a kernel needs function 0");
    resolve();
    return std::move(d_);
  }

 private:
  [[noreturn]] void bad(const std::string& what) {
    size_t line = 1, column = 1;
    for (size_t i = 0; i < at_ && i < text_.size(); i++) {
      column++;
      if (text_[i] == '\n') line++, column = 1;
    }
    throw LoadError("kernel text, line " + std::to_string(line) + ", column " +
                    std::to_string(column) + ": " + what);
  }

  // ---- tokens ---------------------------------------------------------------------------------
  void skip_space() {
    while (at_ < text_.size()) {
      if (std::strchr(" \t\r\n", text_[at_])) {
        at_++;
      } else if (text_.substr(at_, 2) == "//") {
        while (at_ < text_.size() && text_[at_] != '\n') at_++;
      } else {
        return;
      }
    }
  }
  bool accept(char c) {
    skip_space();
    if (at_ >= text_.size() || text_[at_] != c) return false;
    at_++;
    return true;
  }
  bool peek(char c) {
    skip_space();
    return at_ < text_.size() && text_[at_] == c;
  }
  void expect(char c) {
    if (!accept(c)) bad(std::string("expected '") + c + "'");
  }
  static bool is_name(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
  }
  static bool is_digit(char c) { return c >= '0' && c <= '9'; }

  std::string_view peek_name() {
    skip_space();
    size_t end = at_;
    while (end < text_.size() && is_name(text_[end])) end++;
    return text_.substr(at_, end - at_);
  }
  bool accept_word(std::string_view w) {
    if (peek_name() != w) return false;
    at_ += w.size();
    return true;
  }
  void word(std::string_view w) {
    if (!accept_word(w)) bad("expected '" + std::string(w) + "'");
  }
  template <size_t N>
  size_t choice(const std::string_view (&words)[N], const char* what) {
    for (size_t i = 0; i < N; i++)
      if (accept_word(words[i])) return i;
    bad(std::string("expected ") + what);
  }
  uint64_t number(uint64_t most = ~0ull) {
    skip_space();
    uint64_t n = 0;
    const auto r = std::from_chars(text_.data() + at_, text_.data() + text_.size(), n);
    if (r.ec != std::errc() || n > most) bad("expected a number up to " + std::to_string(most));
    at_ = r.ptr - text_.data();
    return n;
  }
  uint32_t number32() { return static_cast<uint32_t>(number(0xffffffffu)); }
  std::string quoted() {
    expect('"');
    std::string s;
    while (at_ < text_.size() && text_[at_] != '"') {
      char c = text_[at_++];
      if (c == '\\' && at_ < text_.size()) {
        c = text_[at_++];
        if (c == 'n') c = '\n';
      }
      s += c;
    }
    expect('"');
    return s;
  }
  Type type() {
    skip_space();
    const size_t from = at_;
    size_t end = from;
    while (end < text_.size() && is_name(text_[end])) end++;
    if (end < text_.size() && text_[end] == '<') {
      int depth = 0;
      for (; end < text_.size(); end++) {
        if (text_[end] == '<') depth++;
        if (text_[end] == '>' && --depth == 0) break;
        if (text_[end] == '\n') break;
      }
      if (end < text_.size()) end++;
    }
    try {
      const Type t = Type::parse(text_.substr(from, end - from));
      at_ = end;
      return t;
    } catch (const CompileError& e) {
      bad(e.diagnostics().empty() ? "expected a type" : e.diagnostics()[0].message);
    }
  }
  Span span() {
    Span s;
    if (!accept('@')) return s;
    s.file = number32();
    expect(':');
    s.line = number32();
    expect(':');
    s.column = static_cast<uint16_t>(number(0xffff));
    expect('-');
    s.end_column = static_cast<uint16_t>(number(0xffff));
    return s;
  }

  // ---- slots ----------------------------------------------------------------------------------
  void slot() {
    if (number32() != d_.slots.size()) bad("slots are numbered from 0");
    Slot s;
    s.name = quoted();
    s.memory = static_cast<MemoryClass>(choice(kMemoryWords, "a memory class"));
    s.type = type();
    s.access = static_cast<Access>(choice(kAccessWords, "an access"));
    word("number");
    s.number = number32();
    s.atomics = accept_word("atomics");
    s.length_used = accept_word("length");
    s.extents_used = accept_word("extents");
    s.report = accept_word("report");
    if (accept_word("owner")) s.owner = FunctionId(number32());
    if (accept_word("data")) {
      if (type() != s.type) bad("the data's type is not the slot's");
      s.data = constant_value(s.type);
    }
    s.span = span();
    d_.slots.push_back(std::move(s));
  }

  void external() {
    if (number32() != d_.externals.size()) bad("external functions are numbered from 0");
    ExternalFunction e;
    e.symbol = quoted();
    e.returns = accept_word("returns");
    e.has_body = accept_word("body");
    expect('(');
    while (!accept(')')) {
      if (!e.parameters.empty()) expect(',');
      ExternalFunction::Parameter p;
      p.kind = static_cast<ExternalFunction::Kind>(choice(kParameterWords, "a kind of parameter"));
      p.access = static_cast<Access>(choice(kAccessWords, "an access"));
      p.index = number32();
      e.parameters.push_back(p);
    }
    for (;;) {
      const std::string_view language = peek_name();
      if (language.empty() || language == "external" || language == "function") break;
      at_ += language.size();
      e.texts.emplace_back(std::string(language), quoted());
    }
    d_.externals.push_back(std::move(e));
  }

  void site() {
    if (number32() != d_.sites.size()) bad("sites are numbered from 0");
    Site s;
    s.kind = static_cast<Site::Kind>(choice(kSiteWords, "a kind of site"));
    s.text = quoted();
    expect('(');
    while (!accept(')')) {
      if (!s.types.empty()) expect(',');
      s.types.push_back(type());
    }
    s.span = span();
    d_.sites.push_back(std::move(s));
  }

  // ---- functions and bodies -------------------------------------------------------------------
  void function() {
    const FunctionId id(d_.functions.size());
    if (number32() != id.value) bad("functions are numbered from 0");
    Function f;
    f.name = quoted();
    params(f.params, Value::Def::FunctionParameter, id.value);
    expect('-');
    expect('>');
    expect('(');
    while (!accept(')')) {
      if (!f.results.empty()) expect(',');
      f.results.push_back(type());
    }
    if (accept_word("external")) f.external = number32();
    f.span = span();
    d_.functions.push_back(std::move(f));
    const BodyId b = body(0);
    d_.functions[id.value].body = b;
  }

  void params(std::vector<ValueId>& to, Value::Def def, uint32_t source) {
    expect('(');
    while (!accept(')')) {
      if (!to.empty()) expect(',');
      expect('%');
      const uint32_t name = number32();
      expect(':');
      const ValueId v(d_.values.size());
      d_.values.push_back({type(), def, source, static_cast<uint32_t>(to.size())});
      define(name, v);
      to.push_back(v);
    }
  }

  void define(uint32_t name, ValueId v) {
    if (!names_.emplace(name, v).second) bad("%" + std::to_string(name) + " is defined twice");
  }

  BodyId body(int depth) {
    if (depth > kDeepest) bad("bodies are nested too deeply");
    const BodyId id = builder_.add_body();
    if (peek('(')) {
      std::vector<ValueId> values;
      params(values, Value::Def::BodyParameter, id.value);
      d_.bodies[id.value].params = std::move(values);
    }
    expect('{');
    while (!accept('}')) operation(id, depth);
    return id;
  }

  void operation(BodyId in, int depth) {
    std::vector<uint32_t> names;
    std::vector<Type> types;
    if (peek('%')) {
      do {
        expect('%');
        names.push_back(number32());
        expect(':');
        types.push_back(type());
      } while (accept(','));
      expect('=');
    }
    const std::string_view name = peek_name();
    const Op op = find_op(name);
    if (static_cast<int>(op) == kOpCount) bad("'" + std::string(name) + "' is no operation");
    at_ += name.size();
    std::vector<Operand> operands;
    std::vector<std::pair<size_t, uint32_t>> pending;  // operand, name
    if (starts_operand()) do {
        operands.push_back(operand(depth, operands.size(), pending));
      } while (accept(','));
    uint8_t flags = 0;
    if (accept('!')) flags = static_cast<uint8_t>(number(255));
    builder_.set_span(span());
    builder_.set_insertion(in);
    const OpId id = builder_.append(op, operands, types, flags);
    const Operation& o = d_.op(id);
    for (size_t i = 0; i < names.size(); i++)
      define(names[i], d_.result(o, static_cast<uint32_t>(i)));
    for (auto [i, n] : pending) pending_.push_back({o.operand_begin + i, n, at_});
  }

  // Operands begin with % $ & { ( a digit, or a constant's type, which is followed by ( or <, as no
  // operation's name is.
  bool starts_operand() {
    skip_space();
    if (at_ >= text_.size()) return false;
    const char c = text_[at_];
    if (std::strchr("$&{(", c) || is_digit(c)) return true;
    if (c == '%') {
      // "%3: type = …" starts the next operation; "%3" alone is an operand.
      size_t end = at_ + 1;
      while (end < text_.size() && is_digit(text_[end])) end++;
      return end >= text_.size() || text_[end] != ':';
    }
    const std::string_view name = peek_name();
    const size_t end = at_ + name.size();
    return !name.empty() && end < text_.size() && (text_[end] == '(' || text_[end] == '<');
  }

  Operand operand(int depth, size_t index, std::vector<std::pair<size_t, uint32_t>>& pending) {
    if (accept('%')) {
      pending.push_back({index, number32()});
      return Operand::of(ValueId());
    }
    if (accept('$')) return Operand::of(SlotId(number32()));
    if (accept('&')) return Operand::of(FunctionId(number32()));
    if (peek('{') || peek('(')) return Operand::of(body(depth + 1));
    skip_space();
    if (at_ < text_.size() && is_digit(text_[at_])) return Operand::imm(number32());
    const Type t = type();
    return Operand::of(builder_.constant(t, constant_value(t)));
  }

  // ---- constants ------------------------------------------------------------------------------
  std::vector<std::byte> constant_value(Type t) {
    if (!t.is_value() || t.size() > (1u << 28)) bad("no constant of type " + t.description());
    std::vector<std::byte> bytes(t.size());
    expect('(');
    if (t.is_scalar())
      scalar(t.scalar(), bytes.data());
    else if (!accept_word("zero"))
      components(t, bytes.data());
    expect(')');
    return bytes;
  }

  void components(Type t, std::byte* bytes) {
    for (uint64_t i = 0; i < t.count(); i++) {
      if (i) expect(',');
      const Type c = t.component(i);
      std::byte* at = bytes + t.offset(i);
      if (c.is_scalar()) {
        scalar(c.scalar(), at);
      } else {
        expect('(');
        components(c, at);
        expect(')');
      }
    }
  }

  template <class T>
  T read_number() {
    T value{};
    const auto r = std::from_chars(text_.data() + at_, text_.data() + text_.size(), value);
    if (r.ec != std::errc()) bad("expected a number");
    at_ = r.ptr - text_.data();
    return value;
  }

  void scalar(Scalar s, std::byte* to) {
    skip_space();
    uint64_t bits = 0;
    const ScalarClass c = scalar_class(s);
    if (c == ScalarClass::Bool) {
      if (accept_word("true"))
        bits = 1;
      else
        word("false");
    } else if (text_.substr(at_, 2) == "0x") {
      at_ += 2;
      const auto r = std::from_chars(text_.data() + at_, text_.data() + text_.size(), bits, 16);
      if (r.ec != std::errc()) bad("expected bits");
      at_ = r.ptr - text_.data();
    } else if (c == ScalarClass::Signed) {
      bits = static_cast<uint64_t>(read_number<int64_t>());
    } else if (c == ScalarClass::Unsigned) {
      bits = read_number<uint64_t>();
    } else if (s == Scalar::Float32) {
      bits = std::bit_cast<uint32_t>(read_number<float>());
    } else if (s == Scalar::Float64) {
      bits = std::bit_cast<uint64_t>(read_number<double>());
    } else {
      bad("expected 0x and the bits of a " + std::string(scalar_name(s)));
    }
    for (uint32_t k = 0; k < scalar_size(s); k++) to[k] = std::byte(bits >> (8 * k));
  }

  void resolve() {
    for (const Pending& p : pending_) {
      const auto found = names_.find(p.name);
      at_ = p.at;
      if (found == names_.end()) bad("%" + std::to_string(p.name) + " is not defined");
      d_.operands[p.operand] = Operand::of(found->second);
    }
  }

  struct Pending {
    size_t operand;
    uint32_t name;
    size_t at;
  };
  std::string_view text_;
  size_t at_ = 0;
  KernelDescriptor d_;
  KernelBuilder builder_;
  std::unordered_map<uint32_t, ValueId> names_;
  std::vector<Pending> pending_;
};

}  // namespace

KernelDescriptor parse_kernel(std::string_view text) { return Parser(text).run(); }

}  // namespace lcpy
