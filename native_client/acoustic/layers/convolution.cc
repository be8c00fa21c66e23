#include "acoustic/layers/convolution.h"

#include <algorithm>

#include "shared/threads.h"

namespace acoustic {
namespace {

constexpr std::size_t kTogether = std::size_t{1} << 15;  // numbers of patches, or of their products, that stay in the cache

// The numbers of a frame, padded with zeros for the frequencies of patches outside it.
std::size_t padded_width(const ConvolutionSizes& sizes) {
  const std::size_t needed = (sizes.frequencies() - 1) * sizes.frequency_stride + sizes.frequency;
  return std::max(needed, sizes.lower() + sizes.input_frequencies()) * sizes.input_channels;
}

Numbers padded_frames(const ConvolutionSizes& sizes, const Numbers& frames) {
  const std::size_t count = frames.size() / sizes.inputs, width = padded_width(sizes);
  Numbers padded(count * width);
  float* to = padded.data() + sizes.lower() * sizes.input_channels;
  for (std::size_t frame = 0; frame < count; ++frame, to += width) {
    std::copy_n(frames.data() + frame * sizes.inputs, sizes.inputs, to);
  }
  return padded;
}

}  // namespace

Numbers Convolution::run(const float* values, std::size_t frames, bool last, std::size_t threads,
                         State& state) const {
  append(values, frames * sizes.inputs, state.frames);
  const std::size_t count = state.frames.size() / sizes.inputs, stride = sizes.time_stride;
  std::size_t rows = count < sizes.time ? 0 : (count - sizes.time) / stride + 1;
  if (last) {
    rows = (count - std::min(count, sizes.before()) + stride - 1) / stride;
    const std::size_t needed = rows == 0 ? 0 : (rows - 1) * stride + sizes.time;
    state.frames.resize(std::max(count, needed) * sizes.inputs);
  }
  if (rows == 0) return {};
  const Numbers padded = padded_frames(sizes, state.frames);
  Numbers outputs(rows * sizes.outputs());
  const std::size_t of_row = sizes.frequencies() * std::max(sizes.patch(), product.filled());
  const std::size_t together = std::max<std::size_t>(1, kTogether / of_row);
  const bool is_worth_threads = rows * sizes.outputs() * sizes.patch() >= kProductsWorthThreads;
  shared::share_out((rows + together - 1) / together, is_worth_threads ? threads : 1, [&](std::size_t piece) {
    const std::size_t first = piece * together;
    run_rows(padded.data() + first * stride * padded_width(sizes), std::min(together, rows - first),
             outputs.data() + first * sizes.outputs());
  });
  taken(std::min(rows * stride * sizes.inputs, state.frames.size()), state.frames);
  return outputs;
}

// The outputs of rows; the first row depends on the frames from `padded` on.
void Convolution::run_rows(const float* padded, std::size_t rows, float* outputs) const {
  const std::size_t patches = rows * sizes.frequencies(), width = padded_width(sizes), filled = product.filled();
  const std::size_t step = sizes.frequency_stride * sizes.input_channels, part = sizes.frequency * sizes.input_channels;
  Numbers inputs(patches * sizes.patch()), products(patches * filled);
  float* to = inputs.data();
  for (std::size_t row = 0; row < rows; ++row) {
    for (std::size_t place = 0; place < sizes.frequencies(); ++place) {
      const float* from = padded + row * sizes.time_stride * width + place * step;
      for (std::size_t time = 0; time < sizes.time; ++time, from += width) to = std::copy_n(from, part, to);
    }
  }
  product.run(inputs.data(), patches, 1, products.data(), low, high);
  for (std::size_t patch = 0; patch < patches; ++patch) {
    std::copy_n(products.data() + patch * filled, sizes.channels, outputs + patch * sizes.channels);
  }
}

}  // namespace acoustic
