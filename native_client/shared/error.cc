#include "shared/error.h"

#include <cstddef>
#include <cstdint>
#include <cstdio>

namespace ctc {
namespace {

constexpr std::size_t kLongest = 2000;

// The bytes of the UTF-8 character that begins at `at`, whose code becomes `code`; 0 if none does.
std::size_t read_character(const std::string& text, std::size_t at, std::uint32_t& code) {
  const auto byte = [&](std::size_t place) {
    return place < text.size() ? static_cast<unsigned char>(text[place]) : std::uint32_t{0};
  };
  const std::uint32_t first = byte(at);
  const std::size_t size = first < 0x80 ? 1 : first >> 5 == 6 ? 2 : first >> 4 == 14 ? 3 : first >> 3 == 30 ? 4 : 0;
  if (size < 2) {
    code = first;
    return size;
  }
  code = first & (0x7Fu >> size);
  for (std::size_t place = at + 1; place < at + size; ++place) {
    if (byte(place) >> 6 != 2) return 0;
    code = code << 6 | (byte(place) & 0x3Fu);
  }
  constexpr std::uint32_t kSmallest[] = {0, 0, 0x80, 0x800, 0x10000};
  const bool is_surrogate = code >= 0xD800 && code < 0xE000;
  return code >= kSmallest[size] && code <= 0x10FFFF && !is_surrogate ? size : 0;
}

bool can_be_printed(std::uint32_t code) {
  const bool controls = code < 0x20 || (code >= 0x7F && code < 0xA0);
  const bool ends_line = code == 0x2028 || code == 0x2029;
  return !controls && !ends_line;
}

}  // namespace

std::string printable(const std::string& text) {
  std::string line;
  for (std::size_t at = 0; at < text.size();) {
    if (line.size() > kLongest) return line + "...";
    std::uint32_t code = 0;
    const std::size_t size = read_character(text, at, code);
    if (size > 0 && can_be_printed(code)) {
      line.append(text, at, size);
    } else {
      for (std::size_t place = at; place < at + (size ? size : 1); ++place) {
        char escaped[8];
        std::snprintf(escaped, sizeof(escaped), "\\x%02x", static_cast<unsigned>(static_cast<unsigned char>(text[place])));
        line += escaped;
      }
    }
    at += size ? size : 1;
  }
  return line;
}

}  // namespace ctc
