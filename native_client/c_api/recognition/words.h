// The words of transcripts, with their times and the probability that each is right; deepspeech/serving/confidence has
// the equations.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "c_api/graph/calibrations.h"
#include "decoder/search.h"

namespace speech {

struct TimedWord {
  std::string text;
  double start, end;  // seconds
  double confidence;  // between 0 and 1
};

struct Transcript {
  std::string text;
  double score;  // a natural logarithm
  std::vector<TimedWord> words;
};

// Hypotheses that are compared at the end of an utterance, and while it goes on: few, to cost little.
constexpr std::size_t kHypotheses = 50, kHypothesesSoFar = 10;

// The few most probable labels of each row of posteriors.
class Rivals {
 public:
  // Takes rows of posteriors, [rows, columns]; the last column is the blank's.
  void feed(const std::vector<float>& posteriors, std::size_t columns);

  // The highest probability in the rows from `first` up to, but without, `end`, of labels for which `is_excluded` is
  // false; 0 if there are none.
  template <class IsExcluded>
  double highest(std::size_t first, std::size_t end, const IsExcluded& is_excluded) const {
    float found = 0;
    for (std::size_t place = first * kept_; place < end * kept_ && place < rivals_.size(); ++place) {
      if (!is_excluded(rivals_[place].label)) found = rivals_[place].probability > found ? rivals_[place].probability : found;
    }
    return static_cast<double>(found);
  }

 private:
  struct Rival {
    ctc::Label label;
    float probability;
  };

  std::size_t kept_ = 0;  // of each row
  std::vector<Rival> rivals_;
};

// A word in the rows of posteriors from `start` up to, but without, `end`.
struct Word {
  std::string text;
  std::uint32_t start, end;
};

// Finds words in results of the search.
class WordReader {
 public:
  // `row_seconds`: seconds from one row of posteriors to the next.
  WordReader(std::vector<std::string> labels, double row_seconds);

  // The words of a result. A word begins at a label that begins with a space, or after a label that is a space.
  std::vector<Word> words(const ctc::Result& result) const;

  // Leaves out the first bytes of a character whose others are not in the result, as in a transcript in progress.
  void leave_out_unfinished(ctc::Result& result) const;

  // What may be right or wrong of a word: the word itself, or each letter if it is written without spaces. A letter
  // reaches to the next one, but not far beyond its last label.
  std::vector<Word> parts(const Word& word, const ctc::Result& result) const;

  // The words of the first `count` results with their times and confidences; in texts without spaces, such as Chinese,
  // their phrases, with the lowest of their letters' confidences. The confidences compare all results of the signal, up
  // to the number that counts.
  std::vector<std::vector<TimedWord>> timed_words(const std::vector<ctc::Result>& results, std::size_t count,
                                                  const Rivals& rivals, const Calibration& calibration) const;

 private:
  double clarity(const ctc::Result& result, const std::vector<Word>& words, std::size_t place, const Rivals& rivals) const;
  std::vector<Word> said(const Word& word, const ctc::Result& result) const;
  Word spoken(const Word& word, const ctc::Result& result) const;
  std::vector<Word> phrases(const Word& word, const ctc::Result& result) const;
  std::vector<std::size_t> letter_begins(const ctc::Result& result, std::size_t first, std::size_t last) const;
  std::string text(const ctc::Result& result, std::size_t first, std::size_t last) const;
  std::uint32_t rows(double seconds) const { return static_cast<std::uint32_t>(seconds / row_seconds_); }
  bool is_space(ctc::Label label) const { return labels_[label] == " "; }

  std::vector<std::string> labels_;
  double row_seconds_;
  bool divides_words_ = false;  // whether a label is a space, or begins with one
};

}  // namespace speech
