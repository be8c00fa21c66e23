// Transcripts and their words, as texts.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "decoder/search.h"

namespace speech {

// A label of a transcript, or a character if labels are its bytes, and the frame at which it appears.
struct Token {
  std::string text;
  std::uint32_t frame;
};

struct Hypothesis {
  std::string text;
  double score;  // a natural logarithm
  std::vector<Token> tokens;
};

// Writes the results of a search as texts. `words_apart`: whether transcripts are a language model's words, with one
// space between any two.
class Writer {
 public:
  Writer(std::vector<std::string> labels, bool words_apart);

  std::vector<Hypothesis> hypotheses(const std::vector<ctc::Result>& results) const;

 private:
  std::string text_of(const std::vector<ctc::Label>& labels) const;

  std::vector<std::string> labels_;
  bool words_apart_;
  bool has_pieces_ = false;  // words begin at labels that have more than the space
};

}  // namespace speech
