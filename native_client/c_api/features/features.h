// The features of a model, as it was trained on them: the frames of its front end, stacked and normalized.
#pragma once

#include <memory>

#include "c_api/features/frames.h"
#include "c_api/graph/feature_settings.h"

namespace speech {

// Threads may share one; it must outlive its streams.
class Features {
 public:
  // Throws Failure for settings that no features can be computed with.
  explicit Features(const FeatureSettings& settings);

  // Begins a signal.
  std::unique_ptr<FrameStream> begin() const;

 private:
  FeatureSettings settings_;
  std::unique_ptr<const FrontEnd> front_end_;
};

}  // namespace speech
