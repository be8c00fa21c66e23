// Prefix beam search over the output of a CTC acoustic model.
//
// The score of a transcript is
//
//   ln P_acoustic + lm_weight * ln P_LM + valid_word_count_weight * (words in the vocabulary)
//
// P_acoustic sums over all alignments that the beam held (with one label more, the delimiter, at the end, too).
// P_LM is that of the whole sentence, given its begin, its end included.
//
// After every frame the best hypotheses by rank are kept. The rank of a hypothesis is its score so far and, in place
// of the word it is in, the look-ahead: the highest unigram score below its node of the trie.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "labels.h"
#include "options.h"
#include "prefix_tree.h"
#include "scorer.h"

namespace ctc {

// A transcript; scores are natural logarithms.
struct Result {
  std::vector<Label> labels;
  std::vector<std::uint32_t> frames;  // at which each label appeared
  double score;
  double acoustic_score;  // ln P_acoustic
  double lm_score;        // ln P_LM, not weighted; 0 without a language model
};

// A sequence of labels that may become a transcript.
struct Hypothesis {
  float blank;       // ln P of its alignments that end in a blank
  float label;       // ln P of those that end in its last label
  float total;       // ln P of both
  float sentence;    // weighted score of its complete words
  float ahead;       // weighted look-ahead of its unfinished word
  float completion;  // weighted score of that word if it is complete; NaN until needed
  Label last;
  std::uint32_t prefix;
  std::uint32_t parent;   // prefix without the last label
  std::uint32_t node;     // in the trie
  std::uint32_t arrival;  // of the last label

  float rank() const { return total + sentence + ahead; }
};

class Search {
 public:
  // Begins a search; `labels` and `scorer` (which may be null) must outlive it.
  static std::unique_ptr<Search> create(const Labels& labels, const DecoderOptions& options, const Scorer* scorer);

  virtual ~Search() = default;

  // Goes on by one frame: ln P of each label and, last, of the blank.
  void step(const std::vector<float>& posteriors);

  // The best transcripts, best first. If `complete`, the audio is over: transcripts end with a complete word (unless
  // no hypothesis does) and the language model scores the end of the sentence. If not, their last word may be
  // unfinished, and counts with its look-ahead.
  std::vector<Result> results(bool complete) const;

 protected:
  Search(const Labels& labels, const DecoderOptions& options, const Scorer* scorer);

  // A hypothesis of the next beam: hypothesis `source`, and one label more unless `label` is kNone.
  struct Candidate {
    float rank;
    float acoustic;
    std::uint32_t source;
    Label label;
    std::uint32_t node;
  };

  // A hypothesis one frame later, without any label more.
  struct Stay {
    float blank, label, total;
    std::uint32_t arrived_from;  // slot of its parent, if it owes most to its last label appearing in this frame
  };

  // Adds the candidates that extend hypothesis `source` by a label.
  virtual void extend(std::uint32_t source) = 0;
  virtual Sentence complete_word(const Sentence& before, Word word) const = 0;

  void add_candidate(const Candidate& candidate);
  bool in_beam(std::uint32_t source, Label label) const;
  float acoustic(const Hypothesis& hypothesis, Label label) const {
    return (label == hypothesis.last ? hypothesis.blank : hypothesis.total) + posteriors_[label];
  }
  float look_ahead(std::uint32_t node) const {
    return options_.lm_weight * nodes_[node].highest + options_.valid_word_count_weight;
  }

  const Labels& labels_;
  const DecoderOptions options_;
  const Scorer* const scorer_;
  const TrieNode* const nodes_;

  std::vector<Hypothesis> beam_;
  std::vector<float> posteriors_;  // of this frame, relative to the best hypothesis
  std::vector<Label> ranked_;      // the labels but the blank, the most probable first
  float floor_ = 0;                // candidates must rank higher

  PrefixTree tree_;

 private:
  void prepare_frame(const std::vector<float>& posteriors);
  void cut_off();
  bool advance();
  void stay();
  void shrink_candidates();
  void build_beam();
  Hypothesis stayed(const Candidate& candidate);
  Hypothesis extended(const Candidate& candidate);
  void compact();
  std::vector<float> merged_totals() const;
  Result result(std::uint32_t slot, double score, float total, float lm_score) const;

  std::vector<Hypothesis> next_beam_;
  std::vector<Stay> stays_;
  std::vector<std::uint64_t> children_;  // for each hypothesis, the labels (modulo 64) that lead to others of the beam
  std::vector<Candidate> candidates_;
  std::uint32_t frame_ = 0;
  float best_total_ = 0;  // of the best hypothesis; subtracted from the next frame, to keep the floats small
  double offset_ = 0;     // sum of what was subtracted
  std::size_t compact_at_;
};

}  // namespace ctc
