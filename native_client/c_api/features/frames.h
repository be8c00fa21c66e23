// The interface of front ends, which make frames of the samples of a signal.
#pragma once

#include <cstddef>
#include <memory>
#include <vector>

namespace speech {

// One signal that comes in pieces. Its frames are the same however it is cut into pieces.
class FrameStream {
 public:
  virtual ~FrameStream() = default;

  // Add the frames that are complete now, or the rest at the end, to `frames`, one after the other.
  virtual void feed(const short* samples, std::size_t count, std::vector<float>& frames) = 0;
  virtual void finish(std::vector<float>& frames) = 0;
};

// Threads may share one; it must outlive its streams.
class FrontEnd {
 public:
  virtual ~FrontEnd() = default;
  virtual std::unique_ptr<FrameStream> begin() const = 0;
};

constexpr float kFullScale = 32768;  // the divisor of samples of 16 bits

// Converts samples to [-1, 1], and appends them to others.
inline void append_samples(const short* samples, std::size_t count, std::vector<float>& others) {
  others.reserve(others.size() + count);
  for (std::size_t place = 0; place < count; ++place) others.push_back(static_cast<float>(samples[place]) / kFullScale);
}

}  // namespace speech
