// A view of an acoustic model's output in memory.
#pragma once

#include <cstddef>
#include <vector>

namespace ctc {

// Probabilities [frames, columns], the last column for the blank; strides in bytes.
struct Posteriors {
  const void* data = nullptr;
  bool double_precision = false;
  std::size_t frames = 0;
  std::size_t columns = 0;
  std::ptrdiff_t frame_stride = 0;
  std::ptrdiff_t column_stride = 0;

  // Writes the natural logarithms of frame `frame` to `logarithms` [columns]; a probability of 0 counts as the
  // smallest normal float. Throws Error naming frame and column if these are not probabilities that sum up to 1.
  // `first_frame` is added to the frame's number in messages.
  void read_frame(std::size_t frame, std::vector<float>& logarithms, std::size_t first_frame = 0) const;
};

}  // namespace ctc
