// What the search knows about language: the words, how they are spelled, and how likely they follow one another.
#pragma once

#include <optional>
#include <string>

#include "language_model/language_model.h"
#include "language_model/lexicon_trie.h"
#include "language_model/scorer_package.h"
#include "language_model/vocabulary.h"
#include "shared/labels.h"

namespace ctc {

class Scorer {
 public:
  // Loads a KenLM file, or a scorer package, and builds the trie of those of its words that can be spelled. A package
  // knows its unit, and how its words are spelled, by itself. Throws Error if a file is damaged or has no such word.
  Scorer(const Labels& labels, const std::string& language_model_path, Unit unit, Spell spell = nullptr);

  // The same with a trie file written for this language model and these labels; then the language model's file needs
  // no vocabulary, and the loading of a large one is fast.
  Scorer(const Labels& labels, const std::string& language_model_path, const std::string& trie_path,
         Spell spell = nullptr);

  const LanguageModel& language_model() const { return language_model_; }
  const LexiconTrie& trie() const { return trie_; }
  const Labels& labels() const { return labels_; }
  Unit unit() const { return unit_; }

  // The spellings of a word, whether it is in the vocabulary or not.
  std::vector<Spelling> spell(const std::string& word) const { return spell_word(labels_, unit_, spell_, word); }

  // The weights that a scorer package recommends.
  const std::optional<PackageDefaults>& package_defaults() const { return package_defaults_; }

 private:
  LexiconTrie load_trie();
  LexiconTrie trie_of_package(PackageTrailer trailer) const;

  Labels labels_;
  LanguageModel language_model_;
  Unit unit_;
  Spell spell_;
  std::optional<PackageDefaults> package_defaults_;
  LexiconTrie trie_;
};

}  // namespace ctc
