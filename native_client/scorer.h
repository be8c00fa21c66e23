// What the search knows about language: which words there are, how likely they follow one another, how they are spelled.
#pragma once

#include <string>

#include "labels.h"
#include "language_model.h"
#include "lexicon_trie.h"

namespace ctc {

class Scorer {
 public:
  // Loads a KenLM file and builds the trie of those of its words that `labels` can spell.
  // Throws Error if the file is not a language model, or has no such word.
  Scorer(const Labels& labels, const std::string& language_model_path);

  const LanguageModel& language_model() const { return language_model_; }
  const LexiconTrie& trie() const { return trie_; }
  const Labels& labels() const { return labels_; }

 private:
  Labels labels_;
  LanguageModel language_model_;
  LexiconTrie trie_;
};

}  // namespace ctc
