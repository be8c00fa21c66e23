// The words of a vocabulary, spelled in labels, as one prefix tree in contiguous memory.
#pragma once

#include <cstdint>
#include <vector>

#include "labels.h"
#include "language_model.h"

namespace ctc {

// Nodes are numbered level by level, so the children of a node lie side by side: those of node n are the nodes
// [nodes[n].first_child, nodes[n + 1].first_child). They are sorted by label. One node past the last ends the list.
struct TrieNode {
  static constexpr Word kNoWord = 0xFFFFFFFF;

  std::uint32_t first_child;
  Label label;    // on the edge that leads here
  Word word;      // that ends here, or kNoWord
  float highest;  // look-ahead: the highest unigram score, ln P(word), of the words that end here or below
};
static_assert(sizeof(TrieNode) == 16, "four nodes share a cache line");

struct LexiconEntry {
  std::vector<Label> spelling;
  Word word;
  float score;  // ln P(word)
};

class LexiconTrie {
 public:
  static constexpr std::uint32_t kRoot = 0;

  // Throws Error if two entries have one spelling or if there is no entry.
  explicit LexiconTrie(std::vector<LexiconEntry> entries);

  const TrieNode* nodes() const { return nodes_.data(); }
  std::size_t size() const { return nodes_.size() - 1; }

 private:
  std::vector<TrieNode> nodes_;
};

}  // namespace ctc
