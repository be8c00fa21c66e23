// Finite-state acceptors of word lists, in OpenFst's binary format: type "const", arcs "standard", aligned.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "language_model/files.h"

namespace ctc {

using Symbol = std::uint32_t;  // 0 is the empty label

// Reads the acceptor that begins at `offset` of the file and returns the words that it accepts.
// Throws Error if it is damaged, has a loop, or accepts more than `most_words`.
std::vector<std::vector<Symbol>> read_acceptor(const FileContent& file, std::size_t offset, std::size_t most_words);

// Writes the smallest acceptor of `words`, which must be sorted and all different. Throws Error if one is too long.
void write_acceptor(NewFile& file, const std::vector<std::vector<Symbol>>& words);

}  // namespace ctc
