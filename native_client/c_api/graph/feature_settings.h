// The features that a graph describes.
#pragma once

#include <cstddef>
#include <vector>

#include "c_api/graph/frozen_graph.h"

namespace speech {

enum class FrontEndKind { kAudioOps, kFbank };

enum class NormalizationKind { kNone, kGlobal, kRunning, kUtterance };

// See features/features.h.
struct FeatureSettings {
  FrontEndKind front_end;
  std::size_t sample_rate;   // Hz
  std::size_t window;        // samples of a frame
  std::size_t step;          // samples from the start of a frame to that of the next
  std::size_t coefficients;  // of a frame of the front end
  NormalizationKind normalization;
  std::vector<float> mean, deviation;  // [coefficients], of the training set; empty without normalization
  std::size_t stack_frames;            // in one frame of the network
  std::size_t skip_frames;             // from the start of a frame of the network to that of the next
  double step_seconds;                 // from a frame of the network to the next

  std::size_t width() const { return stack_frames * coefficients; }  // numbers of a frame of the network
};

// Throws Failure for features that are damaged, or that this library does not compute. `width` is that of the network's
// frames.
FeatureSettings read_features(const FrozenGraph& graph, std::int64_t width);

}  // namespace speech
