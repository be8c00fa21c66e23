// Texts in UTF-8, and bytes that are not UTF-8.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace shared {

// The bytes of the character at the beginning of a text. If there is no character, the bytes that could have begun one,
// at least one byte.
struct Character {
  std::size_t size;
  bool valid;
};

// The text must not be empty.
Character first_character(std::string_view bytes);

bool is_utf8(std::string_view bytes);

// Whether bytes, at least one, begin with a byte that is not the first of a character.
bool is_within_character(std::string_view bytes);

// Whether bytes, at least one, are the beginning of a character without its end.
bool is_unfinished(std::string_view bytes);

// The bytes as UTF-8, with U+FFFD in place of each part that is not UTF-8.
std::string as_utf8(std::string_view bytes);

// Removes the first character of a text in UTF-8, and returns its code.
char32_t take_character(std::string_view& text);

}  // namespace shared
