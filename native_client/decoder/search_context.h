// The data that all searches of one decoder share.
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <vector>

#include "decoder/hot_words.h"
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

  // The nodes of the scorer; null without a scorer. Hot words have nodes of their own.
  const TrieNode* nodes = nullptr;
  HotWords hot_words;

  // Weighted score of an unknown word, or minus infinity.
  float unknown_score;

  // The word that ends at `node`, or kNoWord.
  Word word(std::uint32_t node) const {
    return hot_words.is_of_scorer(node) ? nodes[node].word : word_of_other(node);
  }

  // The highest weighted score that a word at or below a node of the scorer has without its context.
  float look_ahead_of_scorer(std::uint32_t node) const { return ahead_scale_ * nodes[node].highest + ahead_offset_; }

  // The same for any node.
  float look_ahead(std::uint32_t node) const {
    if (hot_words.empty() || hot_words.is_of_scorer(node)) return look_ahead_of_scorer(node);
    const HotWords::Node* const hot = hot_words.find(node);
    return hot ? hot->look_ahead : look_ahead_of_scorer(node);
  }

  // The highest look-ahead of any node, also in a phrase or an unknown word.
  float highest_look_ahead() const {
    return std::max({look_ahead(LexiconTrie::kRoot), unknown_score, hot_words.highest_look_ahead()});
  }

  std::size_t child_count(std::uint32_t node) const {
    const HotWords::Node* const hot = hot_words.find(node);
    return hot ? hot->steps.size() : nodes[node + 1].first_child - nodes[node].first_child;
  }

  // Calls `visit` with the step to each child of `node`.
  template <class Visit>
  void each_child(std::uint32_t node, Visit visit) const {
    if (const HotWords::Node* const hot = hot_words.find(node)) {
      for (const HotWords::Step& step : hot->steps) visit(step);
      return;
    }
    const std::uint32_t end = nodes[node + 1].first_child;
    for (std::uint32_t child = nodes[node].first_child; child < end; ++child) {
      visit(HotWords::Step{nodes[child].label, child});
    }
  }

  // The child of `node` by `label`, or kNoNode.
  std::uint32_t find_child(std::uint32_t node, Label label) const;

  // ln P as it counts in scores. A weight of 0 ignores it, also where it is minus infinity.
  float weighted(float probability) const { return options.lm_weight == 0 ? 0 : options.lm_weight * probability; }

  // What is added to ln P for a word, without boosts.
  float bonus(Word word) const { return word == 0 ? 0 : options.valid_word_count_weight; }

  // The highest bonus that is added to ln P, or to 0 if ln P has a negative weight, for the word that ends at `node`.
  float highest_bonus(std::uint32_t node) const;

  // The same for any word.
  float highest_bonus() const;

 private:
  Word word_of_other(std::uint32_t node) const;
  float score_by_itself(Word word) const;
  void weight_look_ahead();

  std::vector<TrieNode> own_nodes_;  // if the weight of the language model is negative, or 0
  float ahead_scale_;
  float ahead_offset_;
};

}  // namespace ctc
