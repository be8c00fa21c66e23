#include "decoder/options.h"

#include <cmath>
#include <sstream>

#include "shared/error.h"

namespace ctc {
namespace {

template <class Value>
void require(bool holds, const char* option, Value value, const char* wanted) {
  if (holds) return;
  std::ostringstream message;
  message << option << " is " << value << ", but must be " << wanted;
  throw Error(message.str());
}

}  // namespace

void DecoderOptions::check() const {
  constexpr std::size_t kWidest = 1u << 20;
  constexpr char kBounded[] = "between -1e30 and 1e30";  // so that the score of a transcript stays finite
  const auto bounded = [](float value) { return std::abs(value) <= 1e30f; };
  require(beam_width >= 1 && beam_width <= kWidest, "beam_width", beam_width, "between 1 and 1048576");
  require(bounded(lm_weight), "lm_weight", lm_weight, kBounded);
  require(bounded(valid_word_count_weight), "valid_word_count_weight", valid_word_count_weight, kBounded);
  require(cutoff_prob > 0 && cutoff_prob <= 1, "cutoff_prob", cutoff_prob, "above 0 and at most 1");
  require(score_threshold > 0, "score_threshold", score_threshold, "above 0");
  require(bounded(unknown_word_score) || unknown_word_score == -std::numeric_limits<float>::infinity(),
          "unknown_word_score", unknown_word_score, "between -1e30 and 1e30, or minus infinity to forbid unknown words");
  for (const auto& [word, boost] : hot_words) {
    require(!word.empty(), "hot_words", "a list with an empty word", "words and their boosts");
    require(bounded(boost), "hot_words", word + ": " + std::to_string(boost), "words with boosts between -1e30 and 1e30");
  }
  require(result_count >= 1 && result_count <= kWidest, "result_count", result_count, "between 1 and 1048576");
}

}  // namespace ctc
