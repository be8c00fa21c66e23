// The trie of a scorer with hot words. The nodes on the paths to hot words are copied, and nodes of words that the trie
// does not have are added; all others are shared with the scorer. So the time depends only on the number of hot words.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "decoder/phrases.h"
#include "language_model/scorer.h"
#include "shared/log_math.h"

namespace ctc {

class HotWords {
 public:
  // A label, and the node that it leads to.
  struct Step {
    Label label;
    std::uint32_t node;
  };

  // A node on the path to a hot word.
  struct Node {
    std::vector<Step> steps;  // to its children, sorted by label
    Word word = TrieNode::kNoWord;  // 0 for a hot word that is not in the vocabulary
    Phrases::Token token = Phrases::kOther;
    std::uint32_t parent = 0;  // its index among these nodes
    float highest_boost = 0;   // the most that the word adds, as part of a phrase
    float look_ahead = 0;      // weighted
  };

  // Without any hot word.
  HotWords() = default;

  // `boosts` maps words, and phrases with spaces between their words, to boosts; with a language model of characters,
  // any texts. Throws Error naming a word that cannot be spelled.
  HotWords(const Scorer& scorer, const std::map<std::string, float>& boosts);

  // True for the scorer's own nodes, without the root, which is 0, and without nodes that do not exist.
  bool is_of_scorer(std::uint32_t node) const { return node - 1 < first_ - 1; }

  // The node, if it is on the path to a hot word.
  const Node* find(std::uint32_t node) const {
    if (nodes_.empty()) return nullptr;
    const std::uint32_t index = node == LexiconTrie::kRoot ? 0 : node - first_;
    return index < nodes_.size() ? &nodes_[index] : nullptr;
  }

  bool empty() const { return nodes_.empty(); }

  // Computes the look-ahead of each node. `score` is the weighted score of a word by itself, without boosts, and
  // `look_ahead` the weighted look-ahead of a node of the scorer.
  void look_ahead(const std::function<float(Word)>& score, const std::function<float(std::uint32_t)>& look_ahead);

  // The highest weighted score of a word by itself at or below `node`, if it continues a phrase.
  float look_ahead(Phrases::State state, std::uint32_t node) const {
    if (is_of_scorer(node)) return kLogZero;
    const auto found = ahead_in_phrases_.find(key(state, node == LexiconTrie::kRoot ? 0 : node - first_));
    return found == ahead_in_phrases_.end() ? kLogZero : found->second;
  }

  // The highest of these.
  float highest_look_ahead() const;

  // The score that the word that ends at `node` adds, and the state after it.
  float follow(Phrases::State state, std::uint32_t node, Phrases::State& next) const {
    if (nodes_.empty()) return 0;
    const Node* const found = find(node);
    return phrases_->follow(state, found ? found->token : Phrases::kOther, next);
  }

  // The part of the boost that a hypothesis got in advance for an incomplete phrase.
  float advance(Phrases::State state) const { return nodes_.empty() ? 0 : phrases_->advance(state); }

  // The most that any word adds.
  float highest_boost() const;

 private:
  [[noreturn]] static void refuse(const Scorer& scorer, const std::string& text);
  bool add_word(const std::vector<Spelling>& spellings, Phrases::Token token);
  std::uint32_t descend(std::uint32_t index, Label label);
  void copy(std::uint32_t original);
  void look_ahead_in_phrases(const std::function<float(Word)>& score);

  static std::uint64_t key(Phrases::State state, std::uint32_t index) { return std::uint64_t{state} << 32 | index; }

  const LexiconTrie* trie_ = nullptr;
  std::uint32_t first_ = LexiconTrie::kNoNode;  // node n > 0 here has number first_ + n; the root stays 0
  std::vector<Node> nodes_;
  std::optional<Phrases> phrases_;
  std::unordered_map<std::uint64_t, float> ahead_in_phrases_;
};

}  // namespace ctc
