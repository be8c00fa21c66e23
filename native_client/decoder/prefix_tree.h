// The data that hypotheses share: their labels, their words and the frames at which the labels appeared, as trees whose
// nodes point to their parents. Each tree is one growing array. Nodes that no hypothesis reaches are removed from time
// to time.
#pragma once

#include <cstdint>
#include <vector>

#include "decoder/path.h"
#include "decoder/phrases.h"
#include "language_model/language_model.h"
#include "shared/labels.h"

namespace ctc {

constexpr std::uint32_t kNowhere = 0xFFFFFFFF;

// A sequence of labels: its parent's labels, and one more.
struct Prefix {
  std::uint32_t parent;
  std::uint32_t first_child;
  std::uint32_t next_sibling;
  std::uint32_t sentence;  // index of the words completed so far
  std::uint32_t slot;      // place in the beam of the hypothesis with these labels, or kNowhere
  Label label;
};

// The words that a prefix has completed.
struct Sentence {
  LanguageState state;
  float score;  // weighted language-model score, bonuses and boosts of these words
  float probability;  // ln P_LM of these words
  Phrases::State phrase;  // that may begin with the last of them
};

// The frame at which the last label of a prefix appeared, on its best alignment so far.
struct Arrival {
  std::uint32_t previous;
  std::uint32_t frame;
};

class PrefixTree {
 public:
  static constexpr std::uint32_t kRoot = 0;

  explicit PrefixTree(const Sentence& start);

  Prefix& operator[](std::uint32_t prefix) { return prefixes_[prefix]; }
  const Prefix& operator[](std::uint32_t prefix) const { return prefixes_[prefix]; }
  const Sentence& sentence(std::uint32_t index) const { return sentences_[index]; }

  // The number of nodes in the three trees together.
  std::size_t size() const { return prefixes_.size() + sentences_.size() + arrivals_.size(); }

  std::uint32_t find_child(std::uint32_t parent, Label label) const;
  std::uint32_t add_child(std::uint32_t parent, Label label, std::uint32_t sentence);
  std::uint32_t add_sentence(const Sentence& sentence);
  std::uint32_t add_arrival(std::uint32_t previous, std::uint32_t frame);

  // The labels of a prefix; the frames of an arrival and those before it. What they have in common with those of the
  // last call costs nothing. The result is valid until the next call.
  const std::vector<Label>& labels(std::uint32_t prefix);
  const std::vector<std::uint32_t>& frames(std::uint32_t arrival);

  // Removes every node that none of the given prefixes and arrivals reaches, and updates these to the new numbers.
  void compact(const std::vector<std::uint32_t*>& prefixes, const std::vector<std::uint32_t*>& arrivals);

 private:
  void compact_prefixes(const std::vector<std::uint32_t*>& used);
  void compact_sentences();
  void compact_arrivals(const std::vector<std::uint32_t*>& used);

  std::vector<Prefix> prefixes_;
  std::vector<Sentence> sentences_;
  std::vector<Arrival> arrivals_;
  Path labels_;  // of the last prefix that was asked for
  Path frames_;
};

}  // namespace ctc
