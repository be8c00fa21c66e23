// A speech recognizer with its settings.
#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <string>

#include "c_api/recognition/recognition.h"

namespace speech {

// Threads may share one. A setting applies to the utterances that begin after it is changed. Functions that get an
// unusable setting throw Failure and change nothing.
class Model {
 public:
  // Loads an exported graph, computed in a precision.
  Model(const std::string& path, Precision precision);

  int sample_rate() const { return static_cast<int>(acoustic_->info.features.sample_rate); }
  const std::string& language() const { return acoustic_->info.language; }

  std::size_t beam_width() const;
  void set_beam_width(std::size_t beam_width);

  void enable_scorer(const std::string& path);
  void disable_scorer();
  void set_weights(float lm_weight, float valid_word_count_weight);

  void add_hot_word(const std::string& word, float boost);
  void erase_hot_word(const std::string& word);
  void clear_hot_words();

  // Begins an utterance, which may outlive the model.
  std::unique_ptr<Recognition> begin() const;

  // Throws Failure if utterances must be whole.
  void check_streams() const;

 private:
  struct Settings {
    std::size_t beam_width;
    std::shared_ptr<const ctc::Scorer> scorer;
    float lm_weight = 0, valid_word_count_weight = 0;
    std::map<std::string, float> hot_words;  // including those that cannot be spelled, which have no effect
  };

  std::shared_ptr<const ctc::Decoder> make_decoder(const Settings& settings) const;
  void change(Settings settings);
  void require_scorer() const;

  std::shared_ptr<const AcousticModel> acoustic_;
  ctc::Labels labels_;
  mutable std::mutex changing_;
  Settings settings_;
  mutable std::shared_ptr<const ctc::Decoder> decoder_;  // of the settings; null until it is needed
};

}  // namespace speech
