// What the search knows about language: which words there are, how likely they follow one another, how they are spelled.
#pragma once

#include <string>

#include "labels.h"
#include "language_model.h"
#include "lexicon_trie.h"
#include "vocabulary.h"

namespace ctc {

class Scorer {
 public:
  // Loads a KenLM file and builds the trie of those of its words that `labels` can spell.
  // Throws Error if the file is not a language model, or has no such word.
  Scorer(const Labels& labels, const std::string& language_model_path, Unit unit);

  // The same with a trie file written for this language model and these labels; then the language model's file needs
  // no vocabulary, and the loading of a large one is fast.
  Scorer(const Labels& labels, const std::string& language_model_path, const std::string& trie_path);

  const LanguageModel& language_model() const { return language_model_; }
  const LexiconTrie& trie() const { return trie_; }
  const Labels& labels() const { return labels_; }
  Unit unit() const { return unit_; }

 private:
  Labels labels_;
  LanguageModel language_model_;
  Unit unit_;
  LexiconTrie trie_;
};

}  // namespace ctc
