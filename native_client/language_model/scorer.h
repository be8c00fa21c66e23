// What the search knows of a language: the words, their spellings, and the probabilities of their sequences.
#pragma once

#include <cstdint>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "language_model/language_model.h"
#include "language_model/lexicon_trie.h"
#include "language_model/scorer_package.h"
#include "language_model/vocabulary.h"
#include "shared/labels.h"

namespace ctc {

// How many of a language model's words no spelling leads to, and the first of them.
struct UnspelledWords {
  std::size_t count = 0;
  std::size_t of = 0;
  std::string example;
};

class Scorer {
 public:
  // Loads a KenLM file, or a scorer package, and builds the trie of those of its words that can be spelled. A package
  // records its unit and the spellings of its words itself. Throws Error if a file is damaged or has no such word, and
  // for a model of characters if most labels are not characters.
  Scorer(const Labels& labels, const std::string& language_model_path, Unit unit, Spell spell = nullptr);

  // The same with a trie file written for this language model and these labels; then the language model's file needs no
  // vocabulary, and a large one loads fast.
  Scorer(const Labels& labels, const std::string& language_model_path, const std::string& trie_path,
         Spell spell = nullptr);

  const LanguageModel& language_model() const { return language_model_; }
  const LexiconTrie& trie() const { return trie_; }
  const Labels& labels() const { return labels_; }
  Unit unit() const { return unit_; }

  // The units of a text: its words, which are separated by spaces, or its characters.
  std::vector<std::string> words_of(const std::string& text) const;

  // The spellings of a word: those in the trie or, if the trie does not have the word, other ones. For a character,
  // only those in the trie. Empty if it cannot be spelled. Thread-safe.
  std::vector<Spelling> spellings_of(const std::string& word) const;

  // Whether a text has words, and all of them can be spelled.
  bool can_spell(const std::string& text) const;

  // The words that are never recognized. Zero of zero if the language model was loaded without its vocabulary.
  UnspelledWords unspelled_words() const;

  // The weights that a scorer package recommends.
  const std::optional<PackageDefaults>& package_defaults() const { return package_defaults_; }

 private:
  void check_unit() const;
  LexiconTrie load_trie();
  LexiconTrie trie_of_package(PackageTrailer trailer) const;
  std::vector<Spelling> spellings_of_other(const std::string& word) const;
  void index_nodes() const;

  Labels labels_;
  LanguageModel language_model_;
  Unit unit_;
  Spell spell_;
  std::optional<PackageDefaults> package_defaults_;
  LexiconTrie trie_;

  // The nodes at which word n ends are in `nodes_of_words_`, from begins_of_words_[n] on. Built at the first use.
  mutable std::once_flag indexed_;
  mutable std::vector<std::uint32_t> begins_of_words_, nodes_of_words_;
};

}  // namespace ctc
