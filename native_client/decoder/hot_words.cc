#include "decoder/hot_words.h"

#include <algorithm>

#include "shared/error.h"

namespace ctc {

HotWords::HotWords(const Scorer& scorer, const std::map<std::string, float>& boosts) {
  if (boosts.empty()) return;
  trie_ = &scorer.trie();
  first_ = static_cast<std::uint32_t>(trie_->size());
  copy(LexiconTrie::kRoot);
  std::map<std::string, Phrases::Token> tokens;
  std::map<std::vector<Phrases::Token>, float> phrases;
  for (const auto& [text, boost] : boosts) {
    std::vector<Phrases::Token> phrase;
    for (const std::string& word : scorer.words_of(text)) {
      const auto [token, added] = tokens.emplace(word, static_cast<Phrases::Token>(tokens.size()));
      if (added && !add_word(scorer.spellings_of(word), token->second)) refuse(scorer, text);
      phrase.push_back(token->second);
    }
    if (phrase.empty()) refuse(scorer, text);
    phrases[phrase] += boost;
  }
  phrases_.emplace(phrases);
  for (Node& node : nodes_) {
    if (node.token != Phrases::kOther) node.highest_boost = phrases_->highest(node.token);
  }
}

void HotWords::refuse(const Scorer& scorer, const std::string& text) {
  if (scorer.unit() == Unit::kWord) throw Error("the labels cannot spell the hot word '" + text + "'");
  throw Error("the hot word '" + text + "' is not in the vocabulary");
}

void HotWords::look_ahead(const std::function<float(Word)>& score,
                          const std::function<float(std::uint32_t)>& look_ahead) {
  if (nodes_.empty()) return;
  // Children come after their parents.
  for (auto node = nodes_.rbegin(); node != nodes_.rend(); ++node) {
    Phrases::State ignored;
    node->look_ahead = kLogZero;
    if (node->word != TrieNode::kNoWord) {
      node->look_ahead = score(node->word) + phrases_->follow(Phrases::kStart, node->token, ignored);
    }
    for (const Step& step : node->steps) {
      const float below = is_of_scorer(step.node) ? look_ahead(step.node) : find(step.node)->look_ahead;
      node->look_ahead = std::max(node->look_ahead, below);
    }
  }
  look_ahead_in_phrases(score);
}

void HotWords::look_ahead_in_phrases(const std::function<float(Word)>& score) {
  std::unordered_map<Phrases::Token, std::vector<std::uint32_t>> ends;
  for (std::uint32_t index = 0; index < nodes_.size(); ++index) {
    if (nodes_[index].token != Phrases::kOther) ends[nodes_[index].token].push_back(index);
  }
  for (Phrases::State state = 1; state < phrases_->states(); ++state) {
    for (const Phrases::Token token : phrases_->continuations(state)) {
      Phrases::State ignored;
      const float boost = phrases_->follow(state, token, ignored);
      for (std::uint32_t index : ends[token]) {
        const float ahead = score(nodes_[index].word) + boost;
        for (;; index = nodes_[index].parent) {
          float& highest = ahead_in_phrases_.emplace(key(state, index), ahead).first->second;
          highest = std::max(highest, ahead);
          if (index == 0) break;
        }
      }
    }
  }
}

float HotWords::highest_look_ahead() const {
  float highest = kLogZero;
  for (const auto& [place, ahead] : ahead_in_phrases_) highest = std::max(highest, ahead);
  return highest;
}

float HotWords::highest_boost() const {
  float highest = 0;
  for (const Node& node : nodes_) highest = std::max(highest, node.highest_boost);
  return highest;
}

// Adds the spellings of a word; false if there is none.
bool HotWords::add_word(const std::vector<Spelling>& spellings, Phrases::Token token) {
  for (const Spelling& spelling : spellings) {
    std::uint32_t index = 0;
    for (const Label label : spelling) index = descend(index, label);
    nodes_[index].token = token;
    if (nodes_[index].word == TrieNode::kNoWord) nodes_[index].word = 0;
  }
  return !spellings.empty();
}

// The child of a node by `label`; it is added to these nodes if it is not one of them.
std::uint32_t HotWords::descend(std::uint32_t index, Label label) {
  const auto before = [](const Step& step, Label wanted) { return step.label < wanted; };
  std::vector<Step>& steps = nodes_[index].steps;
  const auto place = std::lower_bound(steps.begin(), steps.end(), label, before);
  const auto next = static_cast<std::uint32_t>(nodes_.size());
  if (place == steps.end() || place->label != label) {
    steps.insert(place, {label, first_ + next});
    nodes_.emplace_back();
  } else if (place->node > first_) {
    return place->node - first_;
  } else {
    const std::uint32_t original = place->node;
    place->node = first_ + next;
    copy(original);
  }
  nodes_.back().parent = index;
  return next;
}

void HotWords::copy(std::uint32_t original) {
  const TrieNode* const nodes = trie_->nodes();
  Node node;
  node.word = nodes[original].word;
  for (std::uint32_t child = nodes[original].first_child; child < nodes[original + 1].first_child; ++child) {
    node.steps.push_back({nodes[child].label, child});
  }
  nodes_.push_back(std::move(node));
}

}  // namespace ctc
