#include "emit/clike/literal.h"

#include <charconv>
#include <cmath>

namespace lcpy::clike {

void real_literal(Text& t, double v, bool single) {
  char digits[64];
  if (v < 0 || (v == 0 && std::signbit(v))) {
    t << "(-";
    real_literal(t, -v, single);
    t << ')';
    return;
  }
  const double scaled = v * 1024;
  if (scaled == std::trunc(scaled) && scaled < (1 << 24)) {
    char* end = std::to_chars(digits, digits + sizeof digits, v, std::chars_format::fixed).ptr;
    const std::string_view text(digits, static_cast<size_t>(end - digits));
    t << text << (text.find('.') == text.npos ? ".0" : "");
  } else {
    char* end = std::to_chars(digits, digits + sizeof digits, v, std::chars_format::hex).ptr;
    t << "0x" << std::string_view(digits, static_cast<size_t>(end - digits));
  }
  if (single) t << 'f';
}

void signed_literal(Text& t, int64_t v, int64_t smallest, std::string_view suffix) {
  if (v == smallest)
    t << "(-" << static_cast<uint64_t>(-(v + 1)) << suffix << " - 1)";
  else if (v < 0)
    t << "(-" << static_cast<uint64_t>(-v) << suffix << ')';
  else
    t << static_cast<uint64_t>(v) << suffix;
}

}  // namespace lcpy::clike
