#include "language_model/lexicon_trie.h"

#include <algorithm>

#include "shared/error.h"
#include "shared/log_math.h"

namespace ctc {
namespace {

// The entries [begin, end) share their first `depth` labels; they are those at or below one node.
struct Range {
  std::size_t begin, end, depth;
};

}  // namespace

LexiconTrie::LexiconTrie(std::vector<LexiconEntry> entries) {
  if (entries.empty()) throw Error("the vocabulary has no word that the labels can spell");
  std::sort(entries.begin(), entries.end(), [](const auto& a, const auto& b) { return a.spelling < b.spelling; });

  auto owned = std::make_shared<std::vector<TrieNode>>();
  std::vector<TrieNode>& nodes = *owned;
  std::vector<Range> ranges{{0, entries.size(), 0}};
  nodes.push_back({0, Labels::kNone, TrieNode::kNoWord, kLogZero});
  for (std::size_t node = 0; node < ranges.size(); ++node) {
    auto [begin, end, depth] = ranges[node];
    nodes[node].first_child = static_cast<std::uint32_t>(ranges.size());
    if (entries[begin].spelling.size() == depth) {
      nodes[node].word = entries[begin].word;
      nodes[node].highest = entries[begin].score;
      ++begin;
      if (begin < end && entries[begin].spelling.size() == depth) {
        throw Error("two words of the vocabulary are spelled alike");
      }
    }
    while (begin < end) {
      const Label label = entries[begin].spelling[depth];
      std::size_t next = begin + 1;
      while (next < end && entries[next].spelling[depth] == label) ++next;
      nodes.push_back({0, label, TrieNode::kNoWord, kLogZero});
      ranges.push_back({begin, next, depth + 1});
      begin = next;
    }
  }
  nodes.push_back({static_cast<std::uint32_t>(ranges.size()), Labels::kNone, TrieNode::kNoWord, kLogZero});

  // Children come after their parents.
  for (std::size_t node = ranges.size(); node-- > 0;) {
    for (std::uint32_t child = nodes[node].first_child; child < nodes[node + 1].first_child; ++child) {
      nodes[node].highest = std::max(nodes[node].highest, nodes[child].highest);
    }
  }
  nodes_ = nodes.data();
  size_ = ranges.size();
  owner_ = std::move(owned);
}

std::uint32_t LexiconTrie::find_child(const TrieNode* nodes, std::uint32_t node, Label label) {
  const TrieNode* const begin = nodes + nodes[node].first_child;
  const TrieNode* const end = nodes + nodes[node + 1].first_child;
  const auto before = [](const TrieNode& child, Label wanted) { return child.label < wanted; };
  const TrieNode* const found = std::lower_bound(begin, end, label, before);
  return found != end && found->label == label ? static_cast<std::uint32_t>(found - nodes) : kNoNode;
}

std::uint32_t LexiconTrie::find(const Spelling& spelling) const {
  std::uint32_t node = kRoot;
  for (const Label label : spelling) {
    node = child(node, label);
    if (node == kNoNode) return kNoNode;
  }
  return node;
}

Spelling LexiconTrie::spelling(std::uint32_t node) const {
  Spelling spelling;
  const auto after = [](std::uint32_t wanted, const TrieNode& other) { return wanted < other.first_child; };
  while (node != kRoot) {
    spelling.push_back(nodes_[node].label);
    // The parent is the last node whose first child is not after this node.
    node = static_cast<std::uint32_t>(std::upper_bound(nodes_, nodes_ + size_, node, after) - nodes_) - 1;
  }
  std::reverse(spelling.begin(), spelling.end());
  return spelling;
}

std::vector<LexiconEntry> LexiconTrie::entries() const {
  std::vector<LexiconEntry> entries;
  Spelling spelling;
  struct Place {
    std::uint32_t node;
    std::size_t depth;
  };
  std::vector<Place> open{{kRoot, 0}};
  while (!open.empty()) {
    const auto [node, depth] = open.back();
    open.pop_back();
    if (depth > 0) {
      spelling.resize(depth - 1);
      spelling.push_back(nodes_[node].label);
    }
    if (nodes_[node].word != TrieNode::kNoWord) entries.push_back({spelling, nodes_[node].word, nodes_[node].highest});
    for (std::uint32_t child = nodes_[node].first_child; child < nodes_[node + 1].first_child; ++child) {
      open.push_back({child, depth + 1});
    }
  }
  return entries;
}

}  // namespace ctc
