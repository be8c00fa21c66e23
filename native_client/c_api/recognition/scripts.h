// Properties of characters that decide where words are.
#pragma once

namespace speech {

// Whether a character is of Thai, Lao, Burmese, Khmer, Japanese or Chinese, which have no spaces between words.
bool written_without_spaces(char32_t character);

// Whether a character is a combining mark of the one before it; for scripts with spaces, only general accents are
// known.
bool is_mark(char32_t character);

}  // namespace speech
