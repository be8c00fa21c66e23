// What all searches of one decoder share.
#pragma once

#include <cstdint>
#include <memory>
#include <unordered_map>
#include <vector>

#include "decoder/options.h"
#include "language_model/scorer.h"
#include "shared/labels.h"

namespace ctc {

class SearchContext {
 public:
  // Throws Error if an option has a wrong value, or the scorer (which may be null) does not fit the labels.
  SearchContext(Labels labels, DecoderOptions options, std::shared_ptr<const Scorer> scorer);

  const Labels labels;
  const DecoderOptions options;
  const std::shared_ptr<const Scorer> scorer;

  // Of the scorer, with the hot words; null without a scorer.
  const TrieNode* nodes = nullptr;

  // Weighted score of an unknown word, or minus infinity.
  float unknown_score;

  // The highest weighted score that a word at or below `node` has without its context.
  float look_ahead(std::uint32_t node) const { return ahead_scale_ * nodes[node].highest + ahead_offset_; }

  // What is added to ln P for the word that ends at `node`.
  float bonus(std::uint32_t node) const;
  float highest_bonus() const;

 private:
  std::unordered_map<Word, float> known_hot_words() const;
  void add_hot_words();
  void raise_look_ahead();

  std::vector<TrieNode> own_nodes_;  // with the hot words, if there are any
  float ahead_scale_;
  float ahead_offset_;
  std::unordered_map<std::uint32_t, float> boosts_;  // by node
};

}  // namespace ctc
