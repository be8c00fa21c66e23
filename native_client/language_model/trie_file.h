// Trie files: a header that says what the trie was made for, and the trie as it is in memory. They are read to memory
// and used as they are.
//
//   offset  bytes  content (little-endian)
//        0      8  "ctctrie" and a zero
//        8      4  version, 1
//       12      4  unit: 0 words, 1 characters
//       16      8  nodes, without the one past the last
//       24      8  words in the language model's vocabulary, "<unk>" and sentence markers included
//       32      8  hash of the labels: of their texts and, unless label n is read from column n, of their columns
//       40      8  hash of the nodes
//       48      8  hash of the 48 bytes before
//       56      8  zero
//       64  16 each  the nodes, and one past the last (see lexicon_trie.h)
//
// Hashes are MurmurHash64A with seed 0, as in KenLM.
#pragma once

#include <string>

#include "language_model/language_model.h"
#include "language_model/lexicon_trie.h"
#include "language_model/vocabulary.h"
#include "shared/labels.h"

namespace ctc {

// Writes next to `path`, then renames. Throws Error naming the path if this fails.
void write_trie_file(const std::string& path, const LexiconTrie& trie, const Labels& labels,
                     const LanguageModel& language_model, Unit unit);

// Reads a trie file and checks all of it; sets `unit`. Throws Error naming the path if it is damaged, or was made for
// other labels or another language model.
LexiconTrie read_trie_file(const std::string& path, const Labels& labels, const LanguageModel& language_model,
                           Unit& unit);

}  // namespace ctc
