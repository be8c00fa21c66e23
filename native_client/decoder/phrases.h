// Finds phrases in the words of a hypothesis: an Aho-Corasick automaton (Aho and Corasick, 1975, "Efficient String
// Matching: An Aid to Bibliographic Search").
//
// A phrase of words w_1 ... w_n has a boost b, which is added to a transcript's score each time that the phrase occurs.
// A hypothesis that ends in w_1 ... w_k, k < n, is ranked with k/n b in advance if b > 0, or with the highest advance
// if it may be in several phrases. The advance is taken back when the next word is complete.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <vector>

namespace ctc {

class Phrases {
 public:
  using Token = std::uint32_t;  // a word, numbered from 0
  static constexpr Token kOther = 0xFFFFFFFF;  // a word that is in no phrase

  // The beginnings of phrases with which a hypothesis ends.
  using State = std::uint32_t;
  static constexpr State kStart = 0;

  // Adds phrases, each with its boost; the boosts of equal phrases add up.
  explicit Phrases(const std::map<std::vector<Token>, float>& boosts);

  // The state after one more word, and the score that this word adds, including advances.
  float follow(State state, Token token, State& next) const;

  // The advance of a hypothesis.
  float advance(State state) const { return nodes_[state].advance; }

  // The words that continue a phrase that may have begun.
  std::set<Token> continuations(State state) const;

  State states() const { return static_cast<State>(nodes_.size()); }

  // The most that `follow` adds for this word, from any state.
  float highest(Token token) const;

 private:
  struct Node {
    std::map<Token, State> children;
    State shorter = kStart;  // the longest other beginning of a phrase with which the same words end
    Token token = kOther;
    float earned = 0;  // the boosts of the phrases that end here
    float advance = 0;
  };

  State child(State state, Token token) const;
  void link_shorter();

  std::vector<Node> nodes_;
};

}  // namespace ctc
