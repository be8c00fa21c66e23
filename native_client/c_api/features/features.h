// The features of a model, as in its training: the frames of its front end, stacked and normalized.
#pragma once

#include <memory>

#include "c_api/features/frames.h"
#include "c_api/graph/feature_settings.h"

namespace speech {

// Threads may share one; it must outlive its streams.
class Features {
 public:
  // Throws Failure if features cannot be computed with these settings.
  explicit Features(const FeatureSettings& settings);

  // Begins a signal.
  std::unique_ptr<FrameStream> begin() const;

 private:
  FeatureSettings settings_;
  std::unique_ptr<const FrontEnd> front_end_;
};

}  // namespace speech
