#include "decoder/search_context.h"

#include <algorithm>
#include <limits>

#include "shared/error.h"
#include "shared/log_math.h"

namespace ctc {

SearchContext::SearchContext(Labels all_labels, DecoderOptions all_options, std::shared_ptr<const Scorer> some_scorer)
    : labels(std::move(all_labels)),
      options(std::move(all_options)),
      scorer(std::move(some_scorer)),
      unknown_score(kLogZero),
      ahead_scale_(options.lm_weight),
      ahead_offset_(options.valid_word_count_weight) {
  options.check();
  if (!scorer) {
    if (!options.hot_words.empty()) throw Error("hot_words need a scorer, which knows the other words");
    return;
  }
  if (scorer->labels() != labels) {
    throw Error("the scorer was loaded for other labels than the decoder's");
  }
  nodes = scorer->trie().nodes();
  if (scorer->unit() == Unit::kWord) {
    unknown_score = weighted(scorer->language_model().unigram_score(0)) + options.unknown_word_score;
  }
  if (options.lm_weight <= 0) weight_look_ahead();
  hot_words = HotWords(*scorer, options.hot_words);
  hot_words.look_ahead([this](Word word) { return score_by_itself(word); },
                       [this](std::uint32_t node) { return look_ahead_of_scorer(node); });
}

Word SearchContext::word_of_other(std::uint32_t node) const {
  if (const HotWords::Node* const hot = hot_words.find(node)) return hot->word;
  return node == LexiconTrie::kRoot ? nodes[node].word : TrieNode::kNoWord;
}

std::uint32_t SearchContext::find_child(std::uint32_t node, Label label) const {
  const HotWords::Node* const hot = hot_words.find(node);
  if (!hot) return LexiconTrie::find_child(nodes, node, label);
  const auto before = [](const HotWords::Step& step, Label wanted) { return step.label < wanted; };
  const auto found = std::lower_bound(hot->steps.begin(), hot->steps.end(), label, before);
  return found != hot->steps.end() && found->label == label ? found->node : LexiconTrie::kNoNode;
}

float SearchContext::highest_bonus(std::uint32_t node) const {
  if (options.lm_weight < 0) return std::numeric_limits<float>::infinity();
  const HotWords::Node* const hot = hot_words.is_of_scorer(node) ? nullptr : hot_words.find(node);
  return bonus(word(node)) + (hot ? hot->highest_boost : 0);
}

float SearchContext::highest_bonus() const {
  if (options.lm_weight < 0) return std::numeric_limits<float>::infinity();
  return std::max(0.0f, options.valid_word_count_weight) + hot_words.highest_boost();
}

float SearchContext::score_by_itself(Word word) const {
  return weighted(scorer->language_model().unigram_score(word)) + bonus(word);
}

// With a negative weight the highest score is that of the least likely word, and with none all words are alike: replaces
// the look-ahead of every node by its weighted one.
void SearchContext::weight_look_ahead() {
  const std::size_t size = scorer->trie().size();
  own_nodes_.assign(nodes, nodes + size + 1);
  for (std::size_t index = size; index-- > 0;) {
    TrieNode& node = own_nodes_[index];
    node.highest = node.word == TrieNode::kNoWord ? kLogZero : score_by_itself(node.word);
    for (std::uint32_t child = node.first_child; child < own_nodes_[index + 1].first_child; ++child) {
      node.highest = std::max(node.highest, own_nodes_[child].highest);
    }
  }
  nodes = own_nodes_.data();
  ahead_scale_ = 1;
  ahead_offset_ = 0;
}

}  // namespace ctc
