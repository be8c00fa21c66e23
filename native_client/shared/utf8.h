// Texts in UTF-8, and bytes that are not.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace shared {

// The bytes of the character that begins a text; of what is none, those that could have begun one, at least one.
struct Character {
  std::size_t size;
  bool valid;
};

// Of a text that is not empty.
Character first_character(std::string_view bytes);

bool is_utf8(std::string_view bytes);

// Whether bytes, of which there are some, begin with one that is not the first of a character.
bool is_within_character(std::string_view bytes);

// The bytes as UTF-8, with U+FFFD in place of each part that is not.
std::string as_utf8(std::string_view bytes);

// Takes a character from the front of text in UTF-8, and returns its code.
char32_t take_character(std::string_view& text);

}  // namespace shared
