// The features of `fbank`: Kaldi's log-mel energies, as kaldi-native-fbank computes them with the settings that
// deepspeech/util/front_ends/fbank.py names. For each frame: subtract the mean, then 0.97 times the sample before;
// Povey's window, a Hann window to the power 0.85; squared magnitudes of a Fourier transform of a power of two;
// triangular filters evenly spaced on the mel scale (1127 ln(1 + f/700)) from 20 Hz to 400 Hz below half the sample
// rate; natural logarithm, of at least 2^-23. Frames are centred on their steps, and the signal is mirrored at both
// ends.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "c_api/features/fourier_transform.h"
#include "c_api/features/frames.h"
#include "c_api/features/mel_filter.h"
#include "c_api/graph/feature_settings.h"

namespace speech {

class Fbank : public FrontEnd {
 public:
  // Throws Failure if the filters do not fit into the window.
  explicit Fbank(const FeatureSettings& settings);

  std::unique_ptr<FrameStream> begin() const override;

  // Adds the energies of a window, [settings().window], in [-1, 1], to `features`; the window is overwritten.
  void add_features(std::vector<double>& window, std::vector<float>& features) const;

  const FeatureSettings& settings() const { return settings_; }

 private:
  FeatureSettings settings_;
  std::vector<double> window_;
  std::size_t size_;  // of the transform
  FourierTransform transform_;
  std::vector<MelFilter> filters_;
};

class FbankStream : public FrameStream {
 public:
  explicit FbankStream(const Fbank& fbank) : fbank_(fbank) {}

  void feed(const short* samples, std::size_t count, std::vector<float>& features) override;
  void finish(std::vector<float>& features) override;

 private:
  std::int64_t first_sample(std::int64_t frame) const;
  std::int64_t complete_frames(bool ended) const;
  void add_complete(bool ended, std::vector<float>& features);

  const Fbank& fbank_;
  std::vector<float> samples_;
  std::int64_t before_ = 0;  // samples that are no longer needed
  std::int64_t taken_ = 0;   // frames
};

}  // namespace speech
