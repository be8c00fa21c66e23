// Features of mean 0 and deviation 1, by the statistics of the training set, or by those of the signal itself;
// deepspeech/util/frames/normalization.py has the equations.
#pragma once

#include <cstddef>
#include <vector>

#include "c_api/graph/feature_settings.h"

namespace speech {

// Normalizes one signal. The settings must outlive it.
class Normalization {
 public:
  explicit Normalization(const FeatureSettings& settings);

  // Normalizes the next frames, [frames, stacked, coefficients], which must be all frames if the signal is normalized
  // as a whole.
  void run(float* frames, std::size_t count);

 private:
  void run_global(float* frames, std::size_t count) const;
  void run_running(float* frames, std::size_t count);
  void run_utterance(float* frames, std::size_t count) const;

  const FeatureSettings& settings_;
  double seen_ = 0;                      // values of each coefficient
  std::vector<double> total_, squares_;  // [coefficients]
};

}  // namespace speech
