// The common part of searches with a language model, compiled for each of KenLM's data structures, with and without hot
// words.
#pragma once

#include <cstdint>
#include <vector>

#include "decoder/search.h"
#include "shared/log_math.h"

namespace ctc {

// With at least this many children (as in Chinese), it is faster to look only at those with probable labels.
constexpr std::uint32_t kManyChildren = 64;

template <class Model, bool kHotWords>
class ScoredSearch : public Search {
 protected:
  ScoredSearch(const SearchContext& context, const Model& model)
      : Search(context),
        nodes_(context.nodes),
        highest_ahead_(context.highest_look_ahead()),
        model_(model) {
    root_has_many_children_ = context.child_count(LexiconTrie::kRoot) >= kManyChildren;
    if (!root_has_many_children_ && !context.labels.spell_beginnings()) return;
    root_children_.assign(context.labels.size(), LexiconTrie::kNoNode);
    context.each_child(LexiconTrie::kRoot, [this](Step step) { root_children_[step.label] = step.node; });
  }

  using Step = HotWords::Step;

  // Finds the steps from the root that the labels of this frame allow.
  void rank_root_children() {
    root_steps_.clear();
    for (const Label label : ranked_) {
      if (root_children_[label] != LexiconTrie::kNoNode) root_steps_.push_back({label, root_children_[label]});
    }
  }

  // Calls `extend` with every step from the node of the hypothesis that may reach the floor, and with its look-ahead.
  // No step may add more than `bound` to total, sentence and posterior. `phrase` is the state of the hypothesis's
  // sentence.
  template <class Extend>
  void for_each_step(const Hypothesis& hypothesis, Phrases::State phrase, float bound, Extend extend) {
    const std::uint32_t node = hypothesis.node;
    const auto reaches_floor = [&](Label label) {
      return hypothesis.total + posteriors_[label] + hypothesis.sentence + bound > floor_;
    };
    if (node == LexiconTrie::kRoot && root_has_many_children_) {
      for (const Step step : root_steps_) {
        if (!reaches_floor(step.label)) return;
        extend(step, kHotWords ? ahead(step.node, phrase) : ahead_of_scorer(step.node));
      }
      return;
    }
    if (kHotWords && context_.hot_words.find(node)) {
      context_.each_child(node, [&](Step step) { extend(step, ahead(step.node, phrase)); });
      return;
    }
    const std::uint32_t begin = nodes_[node].first_child, end = nodes_[node + 1].first_child;
    if (end - begin < kManyChildren) {
      for (std::uint32_t child = begin; child < end; ++child) {
        extend(Step{nodes_[child].label, child}, ahead_of_scorer(child));
      }
      return;
    }
    for (const Label label : ranked_) {
      if (!reaches_floor(label)) return;
      const std::uint32_t child = LexiconTrie::find_child(nodes_, node, label);
      if (child != LexiconTrie::kNoNode) extend(Step{label, child}, ahead_of_scorer(child));
    }
  }

  // The look-ahead of a node of the scorer.
  float ahead_of_scorer(std::uint32_t node) const {
    return std::max(context_.look_ahead_of_scorer(node), context_.unknown_score);
  }

  // The word that ends at a node, or kNoWord.
  Word word(std::uint32_t node) const {
    if (kHotWords) return context_.word(node);
    return node == LexiconTrie::kNoNode ? TrieNode::kNoWord : nodes_[node].word;
  }

  Sentence complete_word(const Sentence& before, std::uint32_t node) const final {
    const Word word = this->word(node);
    const bool known = word != TrieNode::kNoWord;
    Sentence after;
    after.phrase = Phrases::kStart;
    const float score = kLn10 * model_.Score(before.state, known ? word : 0, after.state);
    const float bonus = known ? context_.bonus(word) : context_.options.unknown_word_score;
    const float boost = kHotWords ? context_.hot_words.follow(before.phrase, node, after.phrase) : 0;
    after.probability = before.probability + score;
    after.score = before.score + context_.weighted(score) + bonus + boost;
    return after;
  }

  const TrieNode* const nodes_;
  const float highest_ahead_;  // the highest look-ahead of any node
  bool root_has_many_children_;
  std::vector<std::uint32_t> root_children_;  // by label, if there are many or on request: a node or kNoNode
  std::vector<Step> root_steps_;              // of those whose labels are ranked, the most probable first
  const Model& model_;
};

}  // namespace ctc
