#include "c_api/features/mfcc.h"

#include <algorithm>
#include <cmath>
#include <memory>

namespace speech {
namespace {

constexpr double kLowestFrequency = 20;  // Hz
constexpr double kFloor = 1e-12;         // of the filters' outputs, before the logarithm

}  // namespace

Mfcc::Mfcc(const FeatureSettings& settings)
    : settings_(settings),
      transform_(next_power_of_two(settings.window)),
      size_(next_power_of_two(settings.window)),
      filters_(kFilters) {
  for (std::size_t place = 0; place < settings.window; ++place) {
    window_.push_back(0.5 - 0.5 * std::cos(2 * kPi * static_cast<double>(place) / static_cast<double>(settings.window)));
  }
  const std::size_t bins = size_ / 2 + 1;
  const double highest = 0.5 * static_cast<double>(settings.sample_rate);
  const double bin_width = size_ > 1 ? highest / static_cast<double>(bins - 1) : highest;
  const auto first = static_cast<std::size_t>(1.5 + kLowestFrequency / bin_width);
  const auto last = std::min(static_cast<std::size_t>(highest / bin_width), bins - 1);
  const double lowest_mel = mel(kLowestFrequency), width = (mel(highest) - lowest_mel) / (kFilters + 1);
  const auto edge = [&](std::size_t number) { return lowest_mel + width * static_cast<double>(number); };
  for (std::size_t number = 0; number < kFilters; ++number) {
    MelFilter& filter = filters_[number];
    filter.first = first;
    for (std::size_t bin = first; bin <= last; ++bin) {
      const double place = mel(static_cast<double>(bin) * bin_width);
      const double rising = (place - edge(number)) / (edge(number + 1) - edge(number));
      const double falling = (edge(number + 2) - place) / (edge(number + 2) - edge(number + 1));
      const double weight = std::max(0.0, std::min(rising, falling));
      if (weight > 0 || !filter.weights.empty()) {
        filter.weights.push_back(weight);
      } else {
        filter.first = bin + 1;
      }
    }
    while (!filter.weights.empty() && filter.weights.back() == 0) filter.weights.pop_back();
    for (std::size_t order = 0; order < settings.coefficients; ++order) {
      cosines_.push_back(std::sqrt(2.0 / kFilters) * std::cos(kPi / kFilters * static_cast<double>(order) *
                                                              (static_cast<double>(number) + 0.5)));
    }
  }
}

std::size_t Mfcc::add_features(const float* samples, std::size_t count, std::vector<float>& features) const {
  if (count < settings_.window) return 0;
  const std::size_t frames = (count - settings_.window) / settings_.step + 1;
  features.reserve(features.size() + frames * settings_.coefficients);
  std::vector<double> real(size_), imaginary(size_), coefficients(settings_.coefficients);
  for (std::size_t frame = 0; frame < frames; ++frame) {
    const float* const from = samples + frame * settings_.step;
    std::fill(real.begin(), real.end(), 0);
    std::fill(imaginary.begin(), imaginary.end(), 0);
    for (std::size_t place = 0; place < settings_.window; ++place) {
      real[place] = static_cast<double>(from[place]) * window_[place];
    }
    transform_.run(real, imaginary);
    for (std::size_t bin = 0; bin <= size_ / 2; ++bin) {
      const auto power = static_cast<float>(real[bin] * real[bin] + imaginary[bin] * imaginary[bin]);
      real[bin] = std::sqrt(static_cast<double>(power));
    }
    std::fill(coefficients.begin(), coefficients.end(), 0);
    for (std::size_t number = 0; number < kFilters; ++number) {
      const double logarithm = std::log(std::max(filters_[number](real), kFloor));
      const double* const cosines = &cosines_[number * settings_.coefficients];
      for (std::size_t order = 0; order < coefficients.size(); ++order) coefficients[order] += logarithm * cosines[order];
    }
    for (const double coefficient : coefficients) features.push_back(static_cast<float>(coefficient));
  }
  return frames;
}

std::unique_ptr<FrameStream> Mfcc::begin() const { return std::make_unique<MfccStream>(*this); }

void MfccStream::feed(const short* samples, std::size_t count, std::vector<float>& features) {
  append_samples(samples, count, samples_);
  add_complete(features);
}

void MfccStream::finish(std::vector<float>& features) {
  samples_.resize(mfcc_.settings().window, 0.0f);
  add_complete(features);
}

void MfccStream::add_complete(std::vector<float>& features) {
  const std::size_t frames = mfcc_.add_features(samples_.data(), samples_.size(), features);
  samples_.erase(samples_.begin(), samples_.begin() + static_cast<std::ptrdiff_t>(frames * mfcc_.settings().step));
}

}  // namespace speech
