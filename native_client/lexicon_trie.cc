#include "lexicon_trie.h"

#include <algorithm>
#include <limits>

#include "error.h"
#include "log_math.h"

namespace ctc {
namespace {

// The entries [begin, end) share their first `depth` labels; they are what lies at or below one node.
struct Range {
  std::size_t begin, end, depth;
};

}  // namespace

LexiconTrie::LexiconTrie(std::vector<LexiconEntry> entries) {
  if (entries.empty()) throw Error("the vocabulary has no word that the labels can spell");
  std::sort(entries.begin(), entries.end(), [](const auto& a, const auto& b) { return a.spelling < b.spelling; });

  std::vector<Range> ranges{{0, entries.size(), 0}};
  nodes_.push_back({0, Labels::kNone, TrieNode::kNoWord, kLogZero});
  for (std::size_t node = 0; node < ranges.size(); ++node) {
    auto [begin, end, depth] = ranges[node];
    nodes_[node].first_child = static_cast<std::uint32_t>(ranges.size());
    if (entries[begin].spelling.size() == depth) {
      nodes_[node].word = entries[begin].word;
      nodes_[node].highest = entries[begin].score;
      ++begin;
      if (begin < end && entries[begin].spelling.size() == depth) {
        throw Error("two words of the vocabulary are spelled alike");
      }
    }
    while (begin < end) {
      const Label label = entries[begin].spelling[depth];
      std::size_t next = begin + 1;
      while (next < end && entries[next].spelling[depth] == label) ++next;
      nodes_.push_back({0, label, TrieNode::kNoWord, kLogZero});
      ranges.push_back({begin, next, depth + 1});
      begin = next;
    }
  }
  nodes_.push_back({static_cast<std::uint32_t>(ranges.size()), Labels::kNone, TrieNode::kNoWord, kLogZero});

  // Children come after their parents.
  for (std::size_t node = size(); node-- > 0;) {
    for (std::uint32_t child = nodes_[node].first_child; child < nodes_[node + 1].first_child; ++child) {
      nodes_[node].highest = std::max(nodes_[node].highest, nodes_[child].highest);
    }
  }
}

}  // namespace ctc
