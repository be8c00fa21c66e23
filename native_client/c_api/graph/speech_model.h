// What an exported graph says of its model, beside the weights.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "c_api/graph/frozen_graph.h"

namespace speech {

// MFCCs as DeepSpeech 0.2 and later have them; see recognition/mfcc.h.
struct FeatureSettings {
  std::size_t sample_rate;  // Hz
  std::size_t window;       // samples of a frame
  std::size_t step;         // samples from the start of a frame to that of the next
  std::size_t coefficients;
  double step_seconds;
};

struct SpeechModel {
  std::vector<std::string> labels;  // UTF-8, or single bytes of it; the blank comes after them
  FeatureSettings features;
  std::size_t context;     // frames on either side that the network sees
  std::size_t n_steps;     // windows that a stream is computed in
  std::size_t beam_width;  // that the model recommends
  std::string language;    // empty if it says none
};

// Throws Failure for a graph that is damaged, or that this library does not run: that of a network other than
// `deepspeech`, of features other than its MFCCs, or of output units other than characters and bytes.
SpeechModel read_speech_model(const FrozenGraph& graph);

}  // namespace speech
