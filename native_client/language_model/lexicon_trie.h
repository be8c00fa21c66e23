// The words of a vocabulary, spelled in labels, as one prefix tree in contiguous memory. A word may have several
// spellings.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "language_model/language_model.h"
#include "shared/labels.h"

namespace ctc {

// Nodes are numbered level by level, so the children of a node are adjacent: those of node n are the nodes
// [nodes[n].first_child, nodes[n + 1].first_child). They are sorted by label. One node past the last ends the list.
struct TrieNode {
  static constexpr Word kNoWord = 0xFFFFFFFF;

  std::uint32_t first_child;
  Label label;    // on the edge that leads here
  Word word;      // that ends here, or kNoWord
  float highest;  // look-ahead: the highest unigram score, ln P(word), of the words that end here or below
};
static_assert(sizeof(TrieNode) == 16, "four nodes share a cache line, and files hold them as they are");

struct LexiconEntry {
  Spelling spelling;
  Word word;
  float score;  // ln P(word)
};

class LexiconTrie {
 public:
  static constexpr std::uint32_t kRoot = 0;
  static constexpr std::uint32_t kNoNode = 0xFFFFFFFF;

  // Throws Error if two entries have the same spelling or if there is no entry.
  explicit LexiconTrie(std::vector<LexiconEntry> entries);

  // `nodes` are `size` nodes and the one past the last; `owner` keeps them in memory.
  LexiconTrie(std::shared_ptr<const void> owner, const TrieNode* nodes, std::size_t size)
      : nodes_(nodes), size_(size), owner_(std::move(owner)) {}

  const TrieNode* nodes() const { return nodes_; }
  std::size_t size() const { return size_; }

  // The child of `node` by `label`, or kNoNode.
  std::uint32_t child(std::uint32_t node, Label label) const { return find_child(nodes_, node, label); }
  static std::uint32_t find_child(const TrieNode* nodes, std::uint32_t node, Label label);

  // The node that `spelling` leads to, or kNoNode.
  std::uint32_t find(const Spelling& spelling) const;

  // The labels that lead to `node`.
  Spelling spelling(std::uint32_t node) const;

  // Every spelling of every word, as an entry whose score is the look-ahead of its node.
  std::vector<LexiconEntry> entries() const;

 private:
  const TrieNode* nodes_ = nullptr;
  std::size_t size_ = 0;
  std::shared_ptr<const void> owner_;
};

}  // namespace ctc
