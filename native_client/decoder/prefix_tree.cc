#include "decoder/prefix_tree.h"

namespace ctc {
namespace {

// Marks the nodes that `used` reaches by `parent_of`, then numbers the marked nodes in their old order.
template <class ParentOf>
std::vector<std::uint32_t> renumber(std::size_t size, const std::vector<std::uint32_t*>& used, ParentOf parent_of) {
  std::vector<std::uint32_t> number(size, kNowhere);
  for (const std::uint32_t* start : used) {
    for (std::uint32_t node = *start; node != kNowhere && number[node] == kNowhere; node = parent_of(node)) {
      number[node] = 0;
    }
  }
  std::uint32_t next = 0;
  for (std::uint32_t& entry : number) {
    if (entry != kNowhere) entry = next++;
  }
  for (std::uint32_t* start : used) {
    if (*start != kNowhere) *start = number[*start];
  }
  return number;
}

}  // namespace

PrefixTree::PrefixTree(const Sentence& start) {
  sentences_.push_back(start);
  prefixes_.push_back({kNowhere, kNowhere, kNowhere, 0, kNowhere, Labels::kNone});
}

std::uint32_t PrefixTree::find_child(std::uint32_t parent, Label label) const {
  std::uint32_t child = prefixes_[parent].first_child;
  while (child != kNowhere && prefixes_[child].label != label) child = prefixes_[child].next_sibling;
  return child;
}

std::uint32_t PrefixTree::add_child(std::uint32_t parent, Label label, std::uint32_t sentence) {
  const auto child = static_cast<std::uint32_t>(prefixes_.size());
  prefixes_.push_back({parent, kNowhere, prefixes_[parent].first_child, sentence, kNowhere, label});
  prefixes_[parent].first_child = child;
  return child;
}

std::uint32_t PrefixTree::add_sentence(const Sentence& sentence) {
  sentences_.push_back(sentence);
  return static_cast<std::uint32_t>(sentences_.size() - 1);
}

std::uint32_t PrefixTree::add_arrival(std::uint32_t previous, std::uint32_t frame) {
  arrivals_.push_back({previous, frame});
  return static_cast<std::uint32_t>(arrivals_.size() - 1);
}

const std::vector<Label>& PrefixTree::labels(std::uint32_t prefix) {
  return labels_.to(
      prefix, kRoot, [this](std::uint32_t node) { return prefixes_[node].parent; },
      [this](std::uint32_t node) { return prefixes_[node].label; });
}

const std::vector<std::uint32_t>& PrefixTree::frames(std::uint32_t arrival) {
  return frames_.to(
      arrival, kNowhere, [this](std::uint32_t node) { return arrivals_[node].previous; },
      [this](std::uint32_t node) { return arrivals_[node].frame; });
}

void PrefixTree::compact(const std::vector<std::uint32_t*>& prefixes, const std::vector<std::uint32_t*>& arrivals) {
  compact_prefixes(prefixes);
  compact_sentences();
  compact_arrivals(arrivals);
}

void PrefixTree::compact_prefixes(const std::vector<std::uint32_t*>& used) {
  const auto number =
      renumber(prefixes_.size(), used, [this](std::uint32_t prefix) { return prefixes_[prefix].parent; });
  std::vector<Prefix> kept;
  for (std::size_t old = 0; old < prefixes_.size(); ++old) {
    if (number[old] == kNowhere) continue;
    Prefix prefix = prefixes_[old];
    prefix.first_child = prefix.next_sibling = kNowhere;
    if (prefix.parent != kNowhere) {
      prefix.parent = number[prefix.parent];
      prefix.next_sibling = kept[prefix.parent].first_child;
      kept[prefix.parent].first_child = static_cast<std::uint32_t>(kept.size());
    }
    kept.push_back(prefix);
  }
  prefixes_ = std::move(kept);
  labels_.renumber(number, kNowhere);
}

void PrefixTree::compact_sentences() {
  std::vector<std::uint32_t*> used;
  used.reserve(prefixes_.size());
  for (Prefix& prefix : prefixes_) used.push_back(&prefix.sentence);
  std::vector<std::uint32_t> number(sentences_.size(), kNowhere);
  std::vector<Sentence> kept;
  for (std::uint32_t* sentence : used) {
    if (number[*sentence] == kNowhere) {
      number[*sentence] = static_cast<std::uint32_t>(kept.size());
      kept.push_back(sentences_[*sentence]);
    }
    *sentence = number[*sentence];
  }
  sentences_ = std::move(kept);
}

void PrefixTree::compact_arrivals(const std::vector<std::uint32_t*>& used) {
  const auto number =
      renumber(arrivals_.size(), used, [this](std::uint32_t arrival) { return arrivals_[arrival].previous; });
  std::vector<Arrival> kept;
  for (std::size_t old = 0; old < arrivals_.size(); ++old) {
    if (number[old] == kNowhere) continue;
    Arrival arrival = arrivals_[old];
    if (arrival.previous != kNowhere) arrival.previous = number[arrival.previous];
    kept.push_back(arrival);
  }
  arrivals_ = std::move(kept);
  frames_.renumber(number, kNowhere);
}

}  // namespace ctc
