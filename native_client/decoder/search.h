// Prefix beam search over the output of a CTC acoustic model (Graves, 2012, "Supervised Sequence Labelling with
// Recurrent Neural Networks"; with a language model: Hannun et al., 2014, "First-Pass Large Vocabulary Continuous
// Speech Recognition using Bi-Directional Recurrent DNNs").
//
// For a sequence of labels w, let b_t(w) be the probability of its alignments with the first t frames that end in a
// blank, l_t(w) the probability of those that end in its last label, and y_t(k) the probability of label k in frame t.
// With k the last label of w and v the labels before it,
//
//   b_t(w) = y_t(blank) (b_{t-1}(w) + l_{t-1}(w))
//   l_t(w) = y_t(k) (l_{t-1}(w) + b_{t-1}(v) + [v does not end in k] l_{t-1}(v))
//
// Labels may share a column of the acoustic model's output (see labels.h): then y_t(k) is the probability of k's column,
// and "does not end in k" means: in no label of that column, as CTC has only columns.
//
// The score of a transcript is
//
//   ln P_acoustic + lm_weight * ln P_LM + valid_word_count_weight * (words in the vocabulary)
//                 + unknown_word_score * (other words) + boosts of its hot words and phrases (see phrases.h)
//
// P_acoustic is the sum over all alignments in the beam, also those with the delimiter as one more label at the end,
// and over all sequences of labels in the beam with the same text. P_LM is the probability of the whole sentence, given
// its beginning and including its end, unless the options leave the end out. "Words" are characters if the language
// model is one of characters.
//
// After every frame the best hypotheses by rank are kept. The rank of a hypothesis is its score so far and, in place
// of the word it is in, the look-ahead: the highest score that a word at or below its node of the trie has by itself.
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "decoder/prefix_tree.h"
#include "decoder/search_context.h"
#include "shared/log_math.h"

namespace ctc {

// A transcript; scores are natural logarithms.
struct Result {
  std::vector<Label> labels;          // the best of all with its text
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
  Label column;  // of the last label
  std::uint32_t prefix;
  std::uint32_t parent;   // prefix without the last label
  std::uint32_t node;     // in the trie, or kNoNode in an unknown word
  std::uint32_t arrival;  // of the last label
};

class Search {
 public:
  // Begins a search; `context` must outlive it.
  static std::unique_ptr<Search> create(const SearchContext& context);

  virtual ~Search() = default;

  // Takes one more frame: ln P of each column, the blank's last.
  void step(const std::vector<float>& posteriors);

  // The `count` best transcripts, best first. If `complete`, the audio is over: transcripts end with a complete word
  // (unless no hypothesis does) and the language model may score the end of the sentence. If not, their last word may
  // be unfinished, and counts with its look-ahead.
  std::vector<Result> results(bool complete, std::size_t count);

 protected:
  explicit Search(const SearchContext& context);

  static constexpr std::uint32_t kNoCompletion = LexiconTrie::kNoNode - 1;

  // A hypothesis of the next beam: hypothesis `source`, and one more label unless `label` is kNone.
  struct Candidate {
    float rank;
    float acoustic;
    std::uint32_t source;
    Label label;
    std::uint32_t node;       // after the label
    std::uint32_t completed;  // the node where the word that it completes ends, or kNoCompletion
  };

  // A hypothesis that may be among the results.
  struct Finalist {
    std::uint32_t slot;
    float total;  // ln P_acoustic, relative to offset_
    float score;  // relative to offset_
    float lm_score;
    bool unfinished;
  };

  // A hypothesis one frame later, without a new label.
  struct Stay {
    float blank, label, total;
    std::uint32_t arrived_from;  // slot of its parent, if its best alignment has its last label appear in this frame
  };

  // Adds the candidates that extend the hypotheses of the beam by a label.
  virtual void extend_beam() = 0;

  // The sentence with one more word, which ends at `node`.
  virtual Sentence complete_word(const Sentence& before, std::uint32_t node) const = 0;

  void add_candidate(const Candidate& candidate);
  bool in_beam(std::uint32_t source, Label label) const;
  Label column(Label label) const { return columns_ ? columns_[label] : label; }
  float acoustic(const Hypothesis& hypothesis, Label label) const {
    return (column(label) == hypothesis.column ? hypothesis.blank : hypothesis.total) + posteriors_[label];
  }
  // The look-ahead of a hypothesis at `node`.
  float ahead(std::uint32_t node) const {
    return node == LexiconTrie::kNoNode ? context_.unknown_score
                                        : std::max(context_.look_ahead(node), context_.unknown_score);
  }
  // The same if its last words may begin a phrase.
  float ahead(std::uint32_t node, Phrases::State phrase) const {
    const float ahead_of_any = ahead(node);
    return phrase == Phrases::kStart ? ahead_of_any : std::max(ahead_of_any, context_.hot_words.look_ahead(phrase, node));
  }
  const Sentence& sentence(const Hypothesis& hypothesis) const {
    return tree_.sentence(tree_[hypothesis.prefix].sentence);
  }

  const SearchContext& context_;

  std::vector<Hypothesis> beam_;
  std::vector<float> posteriors_;  // of this frame's labels, relative to the best hypothesis
  std::vector<Label> ranked_;      // the labels that may extend a hypothesis, the most probable first
  float floor_ = 0;                // candidates must rank higher

  // The most that an extension by one of these labels adds to total, sentence and posterior; minus infinity if
  // `ranked_` is not used.
  float extension_bound_ = kLogZero;

  PrefixTree tree_;
  std::size_t most_candidates_;  // before the worst are dropped, and the floor rises

 private:
  void prepare_frame(const std::vector<float>& posteriors);
  void cut_off();
  bool advance();
  void read_labels();
  void stay();
  void rank_labels();
  void shrink_candidates();
  void build_beam();
  Hypothesis stayed(const Candidate& candidate);
  Hypothesis extended(const Candidate& candidate);
  void compact();
  std::vector<float> merged_totals() const;
  Finalist finalist(std::uint32_t slot, float total, bool complete) const;
  std::string text(const Finalist& finalist);
  void merge_texts(std::vector<Finalist>& finalists);
  Result result(const Finalist& finalist);

  const Label* const columns_;        // of the labels, or null if they are the columns
  std::vector<float> by_column_;      // posteriors of this frame, if labels are not columns
  float blank_ = 0;                   // posterior of this frame's blank
  std::vector<Hypothesis> next_beam_;
  std::vector<Stay> stays_;
  std::vector<std::uint64_t> children_;  // for each hypothesis, the labels (modulo 64) that lead to others of the beam
  std::vector<Candidate> candidates_;
  std::uint32_t frame_ = 0;
  float best_total_ = 0;  // of the best hypothesis; subtracted from the next frame, to keep the floats small
  double offset_ = 0;     // the sum of all that was subtracted
  std::size_t compact_at_;
};

}  // namespace ctc
