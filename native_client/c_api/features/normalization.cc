#include "c_api/features/normalization.h"

#include <algorithm>
#include <cmath>

namespace speech {
namespace {

constexpr double kPriorValues = 300;  // the weight of the training set's statistics
constexpr double kSmallestVariance = 0.01;

}  // namespace

Normalization::Normalization(const FeatureSettings& settings)
    : settings_(settings), total_(settings.coefficients), squares_(settings.coefficients) {}

void Normalization::run(float* frames, std::size_t count) {
  if (settings_.normalization == NormalizationKind::kNone) return;
  run_global(frames, count);
  if (settings_.normalization == NormalizationKind::kRunning) run_running(frames, count);
  if (settings_.normalization == NormalizationKind::kUtterance) run_utterance(frames, count);
}

void Normalization::run_global(float* frames, std::size_t count) const {
  const std::size_t size = settings_.coefficients;
  for (float* part = frames; part != frames + count * settings_.width(); part += size) {
    for (std::size_t each = 0; each < size; ++each) {
      part[each] = (part[each] - settings_.mean[each]) / settings_.deviation[each];
    }
  }
}

void Normalization::run_running(float* frames, std::size_t count) {
  const std::size_t size = settings_.coefficients, width = settings_.width();
  for (float* frame = frames; frame != frames + count * width; frame += width) {
    seen_ += static_cast<double>(settings_.stack_frames);
    for (std::size_t each = 0; each < size; ++each) {
      for (std::size_t place = each; place < width; place += size) {
        const double value = static_cast<double>(frame[place]);
        total_[each] += value;
        squares_[each] += value * value;
      }
      const double values = kPriorValues + seen_, mean = total_[each] / values;
      const double variance = std::max((kPriorValues + squares_[each]) / values - mean * mean, kSmallestVariance);
      for (std::size_t place = each; place < width; place += size) {
        frame[place] = static_cast<float>((static_cast<double>(frame[place]) - mean) / std::sqrt(variance));
      }
    }
  }
}

void Normalization::run_utterance(float* frames, std::size_t count) const {
  const std::size_t size = settings_.coefficients, end = count * settings_.width();
  const double values = static_cast<double>(end / size);
  for (std::size_t each = 0; each < size && end > 0; ++each) {
    double total = 0, squares = 0;
    for (std::size_t place = each; place < end; place += size) total += static_cast<double>(frames[place]);
    const double mean = total / values;
    for (std::size_t place = each; place < end; place += size) {
      const double difference = static_cast<double>(frames[place]) - mean;
      squares += difference * difference;
    }
    const double deviation = std::sqrt(std::max(squares / values, kSmallestVariance));
    for (std::size_t place = each; place < end; place += size) {
      frames[place] = static_cast<float>((static_cast<double>(frames[place]) - mean) / deviation);
    }
  }
}

}  // namespace speech
