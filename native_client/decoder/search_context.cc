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
  if (scorer->labels() != labels) {
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

// The boosts of those hot words that the trie has.
std::unordered_map<Word, float> SearchContext::known_hot_words() const {
  std::unordered_map<Word, float> wanted, known;
  for (const auto& [word, boost] : options.hot_words) {
    wanted[scorer->language_model().index(word)] = boost;
  }
  wanted.erase(0);
  for (std::size_t node = 0; node < scorer->trie().size(); ++node) {
    const auto boost = wanted.find(nodes[node].word);
    if (boost != wanted.end()) known.insert(*boost);
  }
  return known;
}

void SearchContext::add_hot_words() {
  const LanguageModel& language_model = scorer->language_model();
  std::unordered_map<Word, float> known = known_hot_words();
  std::vector<LexiconEntry> missing;
  std::vector<std::pair<Spelling, float>> unknown;
  for (const auto& [word, boost] : options.hot_words) {
    const bool is_one = word.find(' ') == std::string::npos;
    if (is_one && known.count(language_model.index(word))) continue;
    const std::vector<Spelling> spellings = is_one ? scorer->spell(word) : std::vector<Spelling>();
    if (spellings.empty()) throw Error("the labels cannot spell the hot word '" + word + "'");
    if (scorer->unit() == Unit::kCharacter) throw Error("the hot word '" + word + "' is not in the vocabulary");
    for (const Spelling& spelling : spellings) {
      missing.push_back({spelling, 0, language_model.unigram_score(0)});
      unknown.emplace_back(spelling, boost);
    }
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
  for (std::uint32_t node = 0; node < trie.size(); ++node) {
    const auto boost = known.find(nodes[node].word);
    if (boost != known.end()) boosts_[node] = boost->second;
  }
  for (const auto& [spelling, boost] : unknown) boosts_[trie.find(spelling)] = boost;
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
