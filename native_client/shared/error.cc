#include "shared/error.h"

#include <cstddef>
#include <cstdio>
#include <string_view>

#include "shared/utf8.h"

namespace ctc {
namespace {

constexpr std::size_t kLongest = 2000;
constexpr std::string_view kCut = "...";

bool can_be_printed(char32_t code) {
  const bool controls = code < 0x20 || (code >= 0x7F && code < 0xA0);
  const bool ends_line = code == 0x2028 || code == 0x2029;
  return !controls && !ends_line;
}

void append_escaped(std::string& line, std::string_view bytes) {
  for (const char byte : bytes) {
    char escaped[8];
    std::snprintf(escaped, sizeof(escaped), "\\x%02x", static_cast<unsigned>(static_cast<unsigned char>(byte)));
    line += escaped;
  }
}

}  // namespace

std::string printable(const std::string& text) {
  std::string line;
  std::size_t cut = 0;
  for (std::string_view rest = text; !rest.empty();) {
    const shared::Character first = shared::first_character(rest);
    const std::string_view bytes = rest.substr(0, first.valid ? first.size : 1);
    rest.remove_prefix(bytes.size());
    std::string_view character = bytes;
    if (first.valid && can_be_printed(shared::take_character(character))) {
      line += bytes;
    } else {
      append_escaped(line, bytes);
    }
    if (line.size() <= kLongest - kCut.size()) cut = line.size();
    if (line.size() > kLongest) return line.substr(0, cut).append(kCut);
  }
  return line;
}

}  // namespace ctc
