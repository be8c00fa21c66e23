// Scorer packages (".scorer") of DeepSpeech 0.6 to 0.9: a KenLM binary without its words' texts, followed by a trailer
// with the words as a finite-state acceptor in OpenFst's format.
//
//   bytes  content of the trailer (little-endian)
//       4  "EIRT"
//       4  version, 6 (DeepSpeech 0.6: 5)
//       1  1 if the language model is one of characters, spelled in UTF-8 bytes; 0 if it is one of words
//       8  float64: default weight of the language model
//       8  float64: default bonus of a word
//          the acceptor: OpenFst's "const" type with "standard" arcs. Its arcs carry labels plus 1, or UTF-8 bytes;
//          words end with the label of the space, unless the labels that begin them say where they part.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "language_model/language_model.h"
#include "language_model/lexicon_trie.h"
#include "language_model/files.h"
#include "language_model/vocabulary.h"
#include "shared/labels.h"

namespace ctc {

struct PackageDefaults {
  double lm_weight;
  double valid_word_count_weight;
};

struct PackageTrailer {
  Unit unit;
  PackageDefaults defaults;
  std::vector<Spelling> words;  // without the space at the end
  std::size_t unspelled;        // characters that these labels cannot spell
};

// Reads the trailer after the first `language_model_size` bytes of the file; returns nothing if there is none. Throws
// Error that says what is wrong, for example that it was made for other labels or has more than `most_words` words.
std::optional<PackageTrailer> read_package_trailer(const FileContent& file, std::size_t language_model_size,
                                                   const Labels& labels, std::size_t most_words);

// Writes a package with the words of `trie` and the language model at `language_model_path`: a KenLM binary, or an ARPA
// file, which is converted. Writes next to `path`, then renames. Throws Error naming the file that cannot be read or
// written.
void write_package(const std::string& path, const std::string& language_model_path, const LexiconTrie& trie,
                   const Labels& labels, Unit unit, const PackageDefaults& defaults);

}  // namespace ctc
