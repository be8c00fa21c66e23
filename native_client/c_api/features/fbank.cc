#include "c_api/features/fbank.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <string>

#include "c_api/failure.h"

namespace speech {
namespace {

constexpr double kLowestFrequency = 20;         // Hz
constexpr double kBelowHalfTheRate = 400;       // Hz, where the last filter ends
constexpr double kPreemphasis = 0.97;
constexpr double kPoveysPower = 0.85;
constexpr double kFloor = 1.0 / (1 << 23);  // of the filters' outputs, before the logarithm

}  // namespace

Fbank::Fbank(const FeatureSettings& settings)
    : settings_(settings), size_(next_power_of_two(settings.window)), transform_(size_) {
  const double last = static_cast<double>(std::max<std::size_t>(settings.window, 2) - 1);
  for (std::size_t place = 0; place < settings.window; ++place) {
    const double hann = 0.5 - 0.5 * std::cos(2 * kPi * static_cast<double>(place) / last);
    window_.push_back(std::pow(hann, kPoveysPower));
  }
  const double rate = static_cast<double>(settings.sample_rate);
  const double lowest = mel(kLowestFrequency), highest = mel(std::max(rate / 2 - kBelowHalfTheRate, 0.0));
  const double width = (highest - lowest) / static_cast<double>(settings.coefficients + 1);
  const double bin_width = rate / static_cast<double>(size_);
  for (std::size_t number = 0; number < settings.coefficients; ++number) {
    const double left = lowest + width * static_cast<double>(number), centre = left + width, right = centre + width;
    MelFilter filter;
    for (std::size_t bin = 0; bin < size_ / 2; ++bin) {
      const double place = mel(bin_width * static_cast<double>(bin));
      if (place <= left || place >= right) continue;
      if (filter.weights.empty()) filter.first = bin;
      filter.weights.push_back(std::min((place - left) / (centre - left), (right - place) / (right - centre)));
    }
    if (filter.weights.empty()) {
      throw Failure(DS_ERR_INVALID_SHAPE, std::to_string(settings.coefficients) + " mel filters do not fit into its " +
                                              "windows of " + std::to_string(settings.window) + " samples");
    }
    filters_.push_back(std::move(filter));
  }
}

std::unique_ptr<FrameStream> Fbank::begin() const { return std::make_unique<FbankStream>(*this); }

void Fbank::add_features(std::vector<double>& window, std::vector<float>& features) const {
  const double mean = std::accumulate(window.begin(), window.end(), 0.0) / static_cast<double>(window.size());
  for (double& sample : window) sample -= mean;
  for (std::size_t place = window.size() - 1; place > 0; --place) window[place] -= kPreemphasis * window[place - 1];
  window[0] -= kPreemphasis * window[0];
  for (std::size_t place = 0; place < window.size(); ++place) window[place] *= window_[place];
  std::vector<double> real = window, imaginary(size_);
  real.resize(size_);
  transform_.run(real, imaginary);
  for (std::size_t bin = 0; bin < size_ / 2; ++bin) real[bin] = real[bin] * real[bin] + imaginary[bin] * imaginary[bin];
  for (const MelFilter& filter : filters_) {
    features.push_back(static_cast<float>(std::log(std::max(filter(real), kFloor))));
  }
}

void FbankStream::feed(const short* samples, std::size_t count, std::vector<float>& features) {
  append_samples(samples, count, samples_);
  add_complete(false, features);
}

void FbankStream::finish(std::vector<float>& features) { add_complete(true, features); }

// The first sample of a frame's window; samples with negative numbers are mirrored.
std::int64_t FbankStream::first_sample(std::int64_t frame) const {
  const auto step = static_cast<std::int64_t>(fbank_.settings().step);
  return step * frame + step / 2 - static_cast<std::int64_t>(fbank_.settings().window) / 2;
}

// The number of frames whose samples are all there, or, if the signal has ended, one for each step.
std::int64_t FbankStream::complete_frames(bool ended) const {
  const auto step = static_cast<std::int64_t>(fbank_.settings().step);
  const std::int64_t total = before_ + static_cast<std::int64_t>(samples_.size());
  std::int64_t frames = (total + step / 2) / step;
  if (ended) return frames;
  while (frames > 0 && first_sample(frames - 1) + static_cast<std::int64_t>(fbank_.settings().window) > total) --frames;
  return frames;
}

void FbankStream::add_complete(bool ended, std::vector<float>& features) {
  const auto size = static_cast<std::int64_t>(samples_.size());
  const std::int64_t end = complete_frames(ended);
  std::vector<double> window;
  for (; taken_ < end; ++taken_) {
    window.resize(fbank_.settings().window);
    std::int64_t place = first_sample(taken_) - before_;
    for (double& sample : window) {
      std::int64_t mirrored = place++;
      while (mirrored < 0 || mirrored >= size) mirrored = mirrored < 0 ? -mirrored - 1 : 2 * size - 1 - mirrored;
      sample = static_cast<double>(samples_[static_cast<std::size_t>(mirrored)]);
    }
    fbank_.add_features(window, features);
  }
  const std::int64_t passed = std::clamp<std::int64_t>(first_sample(taken_) - before_, 0, size);
  samples_.erase(samples_.begin(), samples_.begin() + passed);
  before_ += passed;
}

}  // namespace speech
