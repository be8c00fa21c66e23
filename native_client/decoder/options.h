// The options of the search.
#pragma once

#include <cstddef>
#include <limits>
#include <map>
#include <string>

namespace ctc {

// The defaults are stated only here; the programs in tools/ use them.
struct DecoderOptions {
  // Hypotheses kept after every frame; at least 1.
  std::size_t beam_width = 1024;

  // Weight of ln P_LM in the score; 0 ignores the language model, but keeps its vocabulary.
  float lm_weight = 1.5f;

  // Added to the score for every word (or character) that is in the vocabulary of the language model.
  float valid_word_count_weight = 2.25f;

  // Whether ln P_LM includes the end of the sentence; without it, transcripts may be parts of sentences.
  bool sentence_end = true;

  // In each frame, only the most probable labels whose probabilities sum up to this are considered; 1 keeps all.
  float cutoff_prob = 1.0f;

  // The number of most probable labels, including the blank, that are considered in each frame; 0 keeps all.
  std::size_t cutoff_top_n = 0;

  // After every frame, hypotheses whose score is lower than the best by more than this are dropped; infinity keeps all.
  float score_threshold = std::numeric_limits<float>::infinity();

  // Transcripts returned, best first.
  std::size_t result_count = 1;

  // Added to the score for every word that is not in the vocabulary, in addition to the weighted ln P_LM(<unk>); minus
  // infinity forbids such words.
  float unknown_word_score = -std::numeric_limits<float>::infinity();

  // Added to the score whenever one of these words is completed. A hot word outside the vocabulary is recognized, too,
  // with the weighted ln P_LM(<unk>) and this boost.
  std::map<std::string, float> hot_words = {};

  // Throws Error naming the first option with a wrong value.
  void check() const;
};

}  // namespace ctc
