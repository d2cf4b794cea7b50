// Numbers to text and back. Hexadecimal floats are 1.fraction times a power of two; what a format
// has no bits for is cut off, as decimals are for formats narrower than 32 bits.
#include "spirv/literal.h"

#include <bit>
#include <charconv>
#include <cmath>

namespace lcpy::spirv {
namespace {

// A binary float format; its sign is above the exponent.
struct Format {
  int exponent_bits, fraction_bits;
  bool has_infinity = true;

  int bias() const { return (1 << (exponent_bits - 1)) - 1; }
  uint64_t fraction_mask() const { return (uint64_t{1} << fraction_bits) - 1; }
  uint64_t exponent_mask() const { return (uint64_t{1} << exponent_bits) - 1; }
  uint64_t infinity() const { return exponent_mask() << fraction_bits; }
  // The largest finite number: E4M3 has one more exponent, and a NaN above it.
  uint64_t largest() const { return has_infinity ? infinity() - 1 : infinity() + 6; }
  uint64_t sign() const { return uint64_t{1} << (exponent_bits + fraction_bits); }
};

bool find_format(NumberType type, Format* found) {
  const auto encoded = [&](FPEncoding e) { return type.encoding == static_cast<uint32_t>(e); };
  const bool ieee = type.encoding == NumberType::kIeee;
  if (type.width == 64 && ieee) return *found = {11, 52}, true;
  if (type.width == 32 && ieee) return *found = {8, 23}, true;
  if (type.width == 16 && ieee) return *found = {5, 10}, true;
  if (type.width == 16 && encoded(FPEncoding::BFloat16KHR)) return *found = {8, 7}, true;
  if (type.width == 8 && encoded(FPEncoding::Float8E5M2EXT)) return *found = {5, 2}, true;
  if (type.width == 8 && encoded(FPEncoding::Float8E4M3EXT)) return *found = {4, 3, false}, true;
  return false;
}

uint64_t joined(std::span<const Word> words) {
  return words[0] | (words.size() > 1 ? uint64_t{words[1]} << 32 : 0);
}

template <class T>
void append_number(std::string& out, T value) {
  char text[32];
  out.append(text, std::to_chars(text, text + sizeof text, value).ptr);
}

// As many digits as tell every number of the type apart.
template <class T>
void append_decimal(std::string& out, T value, int digits) {
  char text[64];
  out.append(
      text, std::to_chars(text, text + sizeof text, value, std::chars_format::general, digits).ptr);
}

void append_hex_float(std::string& out, uint64_t bits, const Format& f) {
  uint64_t fraction = bits & f.fraction_mask();
  int exponent = static_cast<int>(bits >> f.fraction_bits & f.exponent_mask());
  const bool zero = exponent == 0 && fraction == 0;
  if (exponent == 0 && fraction) {  // a denormal's first bit is the one before the point
    exponent = 1;
    while (!(fraction >> f.fraction_bits)) {
      fraction <<= 1;
      exponent--;
    }
    fraction &= f.fraction_mask();
  }
  if (bits & f.sign()) out += '-';
  out += zero ? "0x0" : "0x1";
  int digits = (f.fraction_bits + 3) / 4;
  fraction <<= digits * 4 - f.fraction_bits;
  if (fraction) out += '.';
  for (; fraction; fraction &= (uint64_t{1} << digits * 4) - 1) {
    digits--;
    out += "0123456789abcdef"[fraction >> digits * 4 & 15];
    if (digits == 0) break;
  }
  out += 'p';
  const int unbiased = zero ? 0 : exponent - f.bias();
  if (unbiased >= 0) out += '+';
  append_number(out, unbiased);
}

void append_float(std::string& out, NumberType type, std::span<const Word> words) {
  Format f;
  if (!find_format(type, &f)) {  // no float that is known: its bits
    out += "0x";
    char text[32];
    out.append(text, std::to_chars(text, text + sizeof text, joined(words), 16).ptr);
    return;
  }
  const uint64_t bits = joined(words) & (f.sign() | (f.sign() - 1));
  const uint64_t exponent = bits >> f.fraction_bits & f.exponent_mask();
  const bool ordinary =
      (bits & (f.sign() - 1)) == 0 || (exponent != 0 && exponent != f.exponent_mask());
  if (type.width == 32 && ordinary) return append_decimal(out, std::bit_cast<float>(words[0]), 9);
  if (type.width == 64 && ordinary) return append_decimal(out, std::bit_cast<double>(bits), 17);
  append_hex_float(out, bits, f);
}

// ---- text to numbers --------------------------------------------------------------------------

bool is_hex(std::string_view digits) {
  return digits.starts_with("0x") || digits.starts_with("0X");
}

std::string bits_text(NumberType type) { return std::to_string(type.width) + "-bit "; }

ParsedNumber failed(std::string error) { return {std::move(error)}; }

ParsedNumber of_bits(uint64_t bits, uint32_t width) {
  ParsedNumber n;
  n.words[0] = static_cast<Word>(bits);
  n.words[1] = static_cast<Word>(bits >> 32);
  n.count = width > 32 ? 2 : 1;
  return n;
}

ParsedNumber parse_integer(std::string_view text, NumberType type) {
  const bool is_signed = type.number == NumberType::Class::Signed;
  if (type.width > 64) return failed("unsupported " + bits_text(type) + "integer literals");
  std::string_view digits = text;
  const bool negative = digits.starts_with('-');
  if (negative && !is_signed) return failed("a negative number in an unsigned literal");
  if (negative || digits.starts_with('+')) digits.remove_prefix(1);
  const bool hex = is_hex(digits);
  const bool octal = !hex && digits.size() > 1 && digits[0] == '0';
  if (hex) digits.remove_prefix(2);
  uint64_t size = 0;
  const char* const end = digits.data() + digits.size();
  const auto [at, status] = std::from_chars(digits.data(), end, size, hex ? 16 : octal ? 8 : 10);
  if (digits.empty() || at != end || status != std::errc())
    return failed(std::string("no ") + (is_signed ? "signed" : "unsigned") +
                  " integer: " + std::string(text));
  const uint64_t all = type.width == 64 ? ~uint64_t{0} : (uint64_t{1} << type.width) - 1;
  const uint64_t top = uint64_t{1} << (type.width - 1);
  // Hexadecimal digits are the bits, of signed types too.
  const uint64_t most = negative ? top : is_signed && !hex ? top - 1 : all;
  if (size > most)
    return failed("the integer " + std::string(text) + " does not fit in a " + bits_text(type) +
                  (is_signed ? "signed" : "unsigned") + " integer");
  uint64_t bits = negative ? 0 - size : size;
  if (is_signed && (bits & top)) bits |= ~all;
  return of_bits(bits, type.width);
}

int hex_digit(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  const char lower = static_cast<char>(c | 32);
  return lower >= 'a' && lower <= 'f' ? lower - 'a' + 10 : -1;
}

// significand * 2^exponent, cut to a format's bits; beyond its largest exponent, infinity. Where a
// format has none, its sign's bit says that the number is too large.
uint64_t packed(uint64_t significand, int64_t exponent, const Format& f) {
  if (!significand) return 0;
  const int length = 64 - std::countl_zero(significand);
  const int64_t unbiased = exponent + length - 1;
  int64_t stored = unbiased + f.bias();
  // Infinities and NaNs are written with the exponent above the largest.
  if (stored > static_cast<int64_t>(f.exponent_mask()))
    return f.has_infinity ? f.infinity() : f.sign();
  int drop = length - 1 - f.fraction_bits;
  if (stored < 1) {
    drop += static_cast<int>(std::min<int64_t>(1 - stored, 70));
    stored = 0;
  }
  const uint64_t kept = drop >= 64 ? 0 : drop >= 0 ? significand >> drop : significand << -drop;
  return static_cast<uint64_t>(stored) << f.fraction_bits | (kept & f.fraction_mask());
}

// False when it is no hexadecimal float.
bool parse_hex_float(std::string_view digits, const Format& f, uint64_t* bits) {
  uint64_t significand = 0;
  int64_t exponent = 0;
  bool any = false, point = false;
  size_t i = 0;
  for (; i < digits.size(); i++) {
    if (digits[i] == '.' && !point) {
      point = true;
      continue;
    }
    const int digit = hex_digit(digits[i]);
    if (digit < 0) break;
    any = true;
    if (significand >> 60) {  // full: what follows is cut off
      exponent += point ? 0 : 4;
    } else {
      significand = significand << 4 | static_cast<uint64_t>(digit);
      exponent -= point ? 4 : 0;
    }
  }
  if (!any || i == digits.size() || (digits[i] | 32) != 'p') return false;
  std::string_view power = digits.substr(i + 1);
  if (power.starts_with('+')) power.remove_prefix(1);
  const char* const end = power.data() + power.size();
  int64_t shift = 0;
  const auto [at, status] = std::from_chars(power.data(), end, shift);
  if (power.empty() || at != end) return false;
  if (status == std::errc::result_out_of_range || std::abs(shift) > 100000)
    shift = power[0] == '-' ? -100000 : 100000;
  *bits = packed(significand, exponent + shift, f);
  return true;
}

// False when it is no decimal float, or too large for the type.
template <class T>
bool parse_decimal(std::string_view digits, T* value) {
  const char* const end = digits.data() + digits.size();
  const auto [at, status] = std::from_chars(digits.data(), end, *value);
  if (digits.empty() || at != end || !(hex_digit(digits[0]) >= 0 || digits[0] == '.')) return false;
  if (status == std::errc::invalid_argument) return false;
  if (status == std::errc::result_out_of_range) {  // too small is 0
    const size_t e = digits.find_first_of("eE");
    if (e == std::string_view::npos || digits.substr(e + 1).starts_with('-') == false) return false;
    *value = 0;
  }
  return std::isfinite(*value);
}

ParsedNumber parse_float(std::string_view text, NumberType type) {
  Format f;
  if (!find_format(type, &f)) return failed("unsupported " + bits_text(type) + "float literals");
  const auto bad = [&] { return failed("no " + bits_text(type) + "float: " + std::string(text)); };
  std::string_view digits = text;
  const bool negative = digits.starts_with('-');
  if (negative || digits.starts_with('+')) digits.remove_prefix(1);
  uint64_t bits = 0;
  if (is_hex(digits)) {
    if (!parse_hex_float(digits.substr(2), f, &bits)) return bad();
  } else if (type.width == 64) {
    double value = 0;
    if (!parse_decimal(digits, &value)) return bad();
    bits = std::bit_cast<uint64_t>(value);
  } else {
    float value = 0;
    if (!parse_decimal(digits, &value)) return bad();
    if (type.width == 32) {
      bits = std::bit_cast<uint32_t>(value);
    } else {
      if (!f.has_infinity && value > 448) return bad();  // the largest, and nothing rounds to it
      const int exponent = value == 0 ? 0 : std::ilogb(value);
      bits = packed(static_cast<uint64_t>(std::ldexp(value, 23 - exponent)), exponent - 23, f);
    }
  }
  const bool decimal = !is_hex(digits);
  if ((decimal && bits > f.largest()) || bits >= f.sign()) return bad();
  return of_bits(negative ? bits | f.sign() : bits, type.width);
}

}  // namespace

void write_decimal(std::string& out, uint64_t value) { append_number(out, value); }

void write_number(std::string& out, NumberType type, std::span<const Word> words) {
  if (type.number == NumberType::Class::Float) return append_float(out, type, words);
  const uint64_t bits = joined(words);
  if (type.number != NumberType::Class::Signed) return append_number(out, bits);
  if (type.width <= 32) return append_number(out, static_cast<int32_t>(words[0]));
  append_number(out, static_cast<int64_t>(bits));
}

ParsedNumber parse_number(std::string_view text, NumberType type) {
  return type.number == NumberType::Class::Float ? parse_float(text, type)
                                                 : parse_integer(text, type);
}

}  // namespace lcpy::spirv
