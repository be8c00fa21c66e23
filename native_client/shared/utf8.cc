#include "shared/utf8.h"

namespace shared {
namespace {

constexpr char kReplacement[] = "\xEF\xBF\xBD";

}  // namespace

Character first_character(std::string_view bytes) {
  const auto byte = [&](std::size_t place) { return static_cast<unsigned char>(bytes[place]); };
  const unsigned first = byte(0);
  if (first < 0x80) return {1, true};
  const std::size_t size = first >= 0xC2 && first < 0xE0 ? 2 : first >> 4 == 14 ? 3 : first >= 0xF0 && first < 0xF5 ? 4 : 0;
  if (size == 0) return {1, false};
  // Some values of the second byte would spell a surrogate, a code that is too large, or one that fits into fewer
  // bytes.
  unsigned lowest = first == 0xE0 ? 0xA0 : first == 0xF0 ? 0x90 : 0x80;
  unsigned highest = first == 0xED ? 0x9F : first == 0xF4 ? 0x8F : 0xBF;
  for (std::size_t place = 1; place < size; ++place) {
    if (place >= bytes.size() || byte(place) < lowest || byte(place) > highest) return {place, false};
    lowest = 0x80;
    highest = 0xBF;
  }
  return {size, true};
}

bool is_utf8(std::string_view bytes) {
  while (!bytes.empty()) {
    const Character character = first_character(bytes);
    if (!character.valid) return false;
    bytes.remove_prefix(character.size);
  }
  return true;
}

bool is_within_character(std::string_view bytes) { return (static_cast<unsigned char>(bytes.front()) & 0xC0) == 0x80; }

bool is_unfinished(std::string_view bytes) {
  const unsigned first = static_cast<unsigned char>(bytes.front());
  const Character character = first_character(bytes);
  return !character.valid && character.size == bytes.size() && first >= 0xC2 && first < 0xF5;
}

std::string as_utf8(std::string_view bytes) {
  std::string text;
  while (!bytes.empty()) {
    const Character character = first_character(bytes);
    text += character.valid ? bytes.substr(0, character.size) : std::string_view(kReplacement);
    bytes.remove_prefix(character.size);
  }
  return text;
}

char32_t take_character(std::string_view& text) {
  const std::size_t size = first_character(text).size;
  char32_t code = static_cast<unsigned char>(text[0]);
  if (size > 1) code &= 0x7Fu >> size;
  for (std::size_t place = 1; place < size; ++place) code = code << 6 | (static_cast<unsigned char>(text[place]) & 0x3Fu);
  text.remove_prefix(size);
  return code;
}

}  // namespace shared
