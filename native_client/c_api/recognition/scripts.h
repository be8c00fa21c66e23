// Properties of characters that decide where words are.
#pragma once

namespace speech {

// Whether a character is of Thai, Lao, Burmese, Khmer, Japanese or Chinese, which have no spaces between words.
bool written_without_spaces(char32_t character);

// Whether a character belongs to the letter before it: a combining mark, or a joiner.
bool is_mark(char32_t character);

}  // namespace speech
