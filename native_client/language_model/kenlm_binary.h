// Checks of KenLM binaries and ARPA files. KenLM trusts its files: a damaged one makes it read anywhere in memory, or
// search endlessly. What passes these checks is safe to load and to score with, though a number may be wrong.
#pragma once

#include <cstddef>
#include <string>

#include "language_model/files.h"

namespace ctc {

// Where in a KenLM binary its header says whether the words' texts follow the model.
constexpr std::size_t kHasVocabularyOffset = 100;

// Returns the size of the binary at the beginning of the file, without the words' texts behind it; 0 if the file does
// not begin with one. Throws Error saying what is damaged.
std::size_t check_kenlm_binary(const FileContent& file);

// Whether a file that begins with these bytes is a KenLM binary, perhaps a damaged one.
bool is_kenlm_binary(const FileHead& head);

// Throws Error if the counts at the beginning of an ARPA file cannot be true of a file of its size.
void check_arpa_counts(const FileHead& head);

}  // namespace ctc
