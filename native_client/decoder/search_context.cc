#include "decoder/search_context.h"

#include <algorithm>
#include <iterator>
#include <optional>

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
  if (scorer->labels().texts() != labels.texts()) {
    throw Error("the scorer was loaded for other labels than the decoder's");
  }
  nodes = scorer->trie().nodes();
  if (scorer->unit() == Unit::kWord) {
    unknown_score = options.lm_weight * scorer->language_model().unigram_score(0) + options.unknown_word_score;
  }
  if (!options.hot_words.empty()) add_hot_words();
}

float SearchContext::bonus(std::uint32_t node) const {
  const float bonus = nodes[node].word == 0 ? 0 : options.valid_word_count_weight;
  if (boosts_.empty()) return bonus;
  const auto boost = boosts_.find(node);
  return boost == boosts_.end() ? bonus : bonus + boost->second;
}

float SearchContext::highest_bonus() const {
  float boost = 0;
  for (const auto& [node, node_boost] : boosts_) boost = std::max(boost, node_boost);
  return std::max(0.0f, options.valid_word_count_weight) + boost;
}

void SearchContext::add_hot_words() {
  const LanguageModel& language_model = scorer->language_model();
  std::vector<LexiconEntry> missing;
  std::vector<std::pair<std::vector<Label>, float>> spellings;
  for (const auto& [word, boost] : options.hot_words) {
    std::vector<Label> spelling;
    if (!labels.spell(word, spelling) || std::count(spelling.begin(), spelling.end(), labels.delimiter())) {
      throw Error("the labels cannot spell the hot word '" + word + "'");
    }
    spellings.emplace_back(spelling, boost);
    const std::uint32_t node = scorer->trie().find(spelling);
    if (node != LexiconTrie::kNoNode && nodes[node].word != TrieNode::kNoWord) continue;
    if (scorer->unit() == Unit::kCharacter) throw Error("the hot word '" + word + "' is not in the vocabulary");
    missing.push_back({std::move(spelling), 0, language_model.unigram_score(0)});
  }
  std::optional<LexiconTrie> larger_trie;
  if (!missing.empty()) {
    std::vector<LexiconEntry> entries = scorer->trie().entries();
    std::move(missing.begin(), missing.end(), std::back_inserter(entries));
    larger_trie.emplace(std::move(entries));
  }
  const LexiconTrie& trie = larger_trie ? *larger_trie : scorer->trie();
  own_nodes_.assign(trie.nodes(), trie.nodes() + trie.size() + 1);
  nodes = own_nodes_.data();
  for (const auto& [spelling, boost] : spellings) boosts_[trie.find(spelling)] = boost;
  raise_look_ahead();
}

// Replaces the look-ahead of every node by its weighted one, which the boosts of the words below are part of.
void SearchContext::raise_look_ahead() {
  for (std::size_t index = own_nodes_.size() - 1; index-- > 0;) {
    TrieNode& node = own_nodes_[index];
    node.highest = kLogZero;
    if (node.word != TrieNode::kNoWord) {
      const float score = scorer->language_model().unigram_score(node.word);
      node.highest = options.lm_weight * score + bonus(static_cast<std::uint32_t>(index));
    }
    for (std::uint32_t child = node.first_child; child < own_nodes_[index + 1].first_child; ++child) {
      node.highest = std::max(node.highest, own_nodes_[child].highest);
    }
  }
  ahead_scale_ = 1;
  ahead_offset_ = 0;
}

}  // namespace ctc
