#include "decoder/phrases.h"

#include <algorithm>
#include <limits>

namespace ctc {

Phrases::Phrases(const std::map<std::vector<Token>, float>& boosts) : nodes_(1) {
  for (const auto& [phrase, boost] : boosts) {
    State state = kStart;
    for (std::size_t place = 0; place < phrase.size(); ++place) {
      const auto [found, added] = nodes_[state].children.emplace(phrase[place], static_cast<State>(nodes_.size()));
      state = found->second;
      if (added) {
        nodes_.emplace_back();
        nodes_.back().token = phrase[place];
      }
      const float share = static_cast<float>(place + 1) / static_cast<float>(phrase.size());
      if (place + 1 < phrase.size()) nodes_[state].advance = std::max(nodes_[state].advance, share * boost);
    }
    nodes_[state].earned += boost;
  }
  link_shorter();
}

// Level by level, so that shorter beginnings come first.
void Phrases::link_shorter() {
  std::vector<State> open{kStart};
  for (std::size_t place = 0; place < open.size(); ++place) {
    const State state = open[place];
    for (const auto& [token, next] : nodes_[state].children) {
      Node& node = nodes_[next];
      if (state != kStart) node.shorter = child(nodes_[state].shorter, token);
      node.earned += nodes_[node.shorter].earned;
      node.advance = std::max(node.advance, nodes_[node.shorter].advance);
      open.push_back(next);
    }
  }
}

// The state of the longest beginning of a phrase with which these words and `token` end.
Phrases::State Phrases::child(State state, Token token) const {
  for (;; state = nodes_[state].shorter) {
    const auto found = nodes_[state].children.find(token);
    if (found != nodes_[state].children.end()) return found->second;
    if (state == kStart) return kStart;
  }
}

float Phrases::follow(State state, Token token, State& next) const {
  next = token == kOther ? kStart : child(state, token);
  return nodes_[next].earned + nodes_[next].advance - nodes_[state].advance;
}

std::set<Phrases::Token> Phrases::continuations(State state) const {
  std::set<Token> tokens;
  for (; state != kStart; state = nodes_[state].shorter) {
    for (const auto& [token, next] : nodes_[state].children) tokens.insert(token);
  }
  return tokens;
}

float Phrases::highest(Token token) const {
  float highest = nodes_[kStart].children.count(token) ? -std::numeric_limits<float>::infinity() : 0;
  for (const Node& node : nodes_) {
    if (node.token == token) highest = std::max(highest, node.earned + node.advance);
  }
  return highest;
}

}  // namespace ctc
