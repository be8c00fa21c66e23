// The features of `audio_ops`, as TensorFlow's ops AudioSpectrogram and Mfcc compute them: periodic Hann window, squared
// magnitudes of a Fourier transform of a power of two, 40 triangular filters evenly spaced on the mel scale
// (1127 ln(1 + f/700)) from 20 Hz to half the sample rate over magnitudes, logarithm, and a cosine transform (DCT-II).
// The Python package computes the same in deepspeech/util/front_ends/mfcc.py.
#pragma once

#include <cstddef>
#include <memory>
#include <vector>

#include "c_api/features/fourier_transform.h"
#include "c_api/features/frames.h"
#include "c_api/features/mel_filter.h"
#include "c_api/graph/feature_settings.h"

namespace speech {

// Threads may share one.
class Mfcc : public FrontEnd {
 public:
  explicit Mfcc(const FeatureSettings& settings);

  std::unique_ptr<FrameStream> begin() const override;

  // Adds the features of the windows of `samples`, in [-1, 1], to `features`, and returns how many windows there were.
  // Samples after the last whole window are left out.
  std::size_t add_features(const float* samples, std::size_t count, std::vector<float>& features) const;

  const FeatureSettings& settings() const { return settings_; }

 private:
  static constexpr std::size_t kFilters = 40;

  FeatureSettings settings_;
  std::vector<double> window_;
  FourierTransform transform_;
  std::size_t size_;  // of the transform
  std::vector<MelFilter> filters_;
  std::vector<double> cosines_;  // [filters, coefficients]
};

// The frames of one signal that comes in pieces; they are the same however it is cut into pieces. The samples after the
// last whole step, even if there are none, are padded with zeros and make one more frame.
class MfccStream : public FrameStream {
 public:
  explicit MfccStream(const Mfcc& mfcc) : mfcc_(mfcc) {}

  void feed(const short* samples, std::size_t count, std::vector<float>& features) override;
  void finish(std::vector<float>& features) override;

 private:
  void add_complete(std::vector<float>& features);

  const Mfcc& mfcc_;
  std::vector<float> samples_;
};

}  // namespace speech
