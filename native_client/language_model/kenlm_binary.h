// Checks of KenLM binaries and ARPA files. KenLM trusts its files: with a damaged file, it may read anywhere in memory,
// or search endlessly. A file that passes these checks is safe to load and to score with, although its numbers may be
// wrong.
#pragma once

#include <cstddef>
#include <string>

#include "language_model/files.h"

namespace ctc {

// The place in the header of a KenLM binary that says whether the words' texts follow the model.
constexpr std::size_t kHasVocabularyOffset = 100;

// Returns the size of the binary at the beginning of the file, without the words' texts after it; 0 if the file does
// not begin with a binary. Throws Error that says what is damaged.
std::size_t check_kenlm_binary(const FileContent& file);

// Whether a file that begins with these bytes is a KenLM binary, perhaps a damaged one.
bool is_kenlm_binary(const FileHead& head);

// Throws Error if the counts at the beginning of an ARPA file cannot be true of a file of its size.
void check_arpa_counts(const FileHead& head);

}  // namespace ctc
