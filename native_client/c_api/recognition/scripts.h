// What the characters of scripts say about words.
#pragma once

namespace speech {

// Whether a character is of Thai, Lao, Burmese, Khmer, Japanese or Chinese, which have no spaces between words.
bool written_without_spaces(char32_t character);

// Whether a character is a mark upon the one before it; of scripts with spaces, only the accents of all are known.
bool is_mark(char32_t character);

}  // namespace speech
