// Texts in UTF-8, and bytes that are not.
#pragma once

#include <string>
#include <string_view>

namespace speech {

bool is_utf8(std::string_view bytes);

// The bytes as UTF-8, with U+FFFD in place of each part that is not.
std::string as_utf8(std::string_view bytes);

// Takes a character from the front of text in UTF-8, and returns its code.
char32_t take_character(std::string_view& text);

}  // namespace speech
