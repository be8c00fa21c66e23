#include "c_api/network/convolution.h"

#include <algorithm>
#include <string>

#include "c_api/failure.h"

namespace speech {
namespace {

constexpr std::size_t kLargestKept = std::size_t{1} << 22;      // numbers of the frames that an output depends on
constexpr std::size_t kLargestPatches = std::size_t{1} << 22;   // numbers of the patches of a frame
constexpr std::size_t kLargestWork = std::size_t{1} << 31;      // products of a frame
constexpr std::size_t kPatchesTogether = std::size_t{1} << 20;  // numbers of patches that are multiplied at once

[[noreturn]] void refuse(const LayerRecord& record, const char* why) {
  throw Failure(DS_ERR_INVALID_SHAPE, "its network cannot be run: layer " + record.name + " " + why);
}

}  // namespace

ConvolutionLayer::Sizes::Sizes(const LayerRecord& record)
    : channels(record.size("channels")),
      input_channels(record.size("input_channels")),
      time(record.size("time")),
      frequency(record.size("frequency")),
      time_stride(record.size("time_stride")),
      frequency_stride(record.size("frequency_stride")) {}

ConvolutionLayer::ConvolutionLayer(const LayerRecord& record, std::size_t inputs, WeightReader& weights,
                                   Precision precision)
    : inputs_(inputs),
      sizes_(record),
      frequencies_(checked_frequencies(sizes_, record, inputs)),
      product_(read_product(sizes_, record, weights, precision)),
      low_(record.has("clip") ? 0 : -kInfinity),
      high_(record.has("clip") ? static_cast<float>(record.number("clip")) : kInfinity) {}

// The sizes are at most 2^20, and inputs at most 2^16, so that none of these products is an overflow.
std::size_t ConvolutionLayer::checked_frequencies(const Sizes& sizes, const LayerRecord& record, std::size_t inputs) {
  if (std::min({sizes.channels, sizes.input_channels, sizes.time, sizes.frequency, sizes.time_stride,
                sizes.frequency_stride}) < 1) {
    refuse(record, "has a size or a stride of 0");
  }
  if (sizes.time < sizes.time_stride) refuse(record, "leaves frames out");
  if (inputs % sizes.input_channels != 0) refuse(record, "has inputs that are not those of its channels");
  const std::size_t of_input = inputs / sizes.input_channels;
  const std::size_t frequencies = (of_input + sizes.frequency_stride - 1) / sizes.frequency_stride;
  const bool fits = sizes.time * inputs <= kLargestKept && sizes.frequency <= 2 * of_input + 1 &&
                    sizes.patch() * frequencies <= kLargestPatches &&
                    sizes.patch() * frequencies * sizes.channels <= kLargestWork;
  if (!fits) refuse(record, "is too large to be run");
  return frequencies;
}

Product ConvolutionLayer::read_product(const Sizes& sizes, const LayerRecord& record, WeightReader& weights,
                                       Precision precision) {
  const auto size = [](std::size_t number) { return static_cast<std::int64_t>(number); };
  const std::vector<float> kernel =
      weights.floats(record.name + "/kernel",
                     {size(sizes.time), size(sizes.frequency), size(sizes.input_channels), size(sizes.channels)});
  const std::vector<float> bias = weights.floats(record.name + "/bias", {size(sizes.channels)});
  weights.hold_blocks(sizes.patch(), sizes.channels);
  return Product({kernel.data(), sizes.patch(), sizes.channels, false}, bias.data(), precision);
}

// Adds what the outputs of one frame depend on, [frequencies, time, frequency, input channels].
void ConvolutionLayer::add_patches(const float* frames, std::vector<float>& patches) const {
  const std::size_t channels = sizes_.input_channels, of_input = inputs_ / channels, lower = (sizes_.frequency - 1) / 2;
  for (std::size_t place = 0; place < frequencies_; ++place) {
    const std::size_t begin = place * sizes_.frequency_stride, end = begin + sizes_.frequency;  // counted from -lower
    const std::size_t first = std::max(begin, lower), last = std::max(first, std::min(end, of_input + lower));
    for (std::size_t time = 0; time < sizes_.time; ++time) {
      const float* const frame = frames + time * inputs_;
      patches.insert(patches.end(), (first - begin) * channels, 0.0f);
      patches.insert(patches.end(), frame + (first - lower) * channels, frame + (last - lower) * channels);
      patches.insert(patches.end(), (end - last) * channels, 0.0f);
    }
  }
}

// The outputs [rows, outputs()] of frames from `before` the first row's on.
std::vector<float> ConvolutionLayer::run(const std::vector<float>& frames, std::size_t rows) const {
  const std::size_t of_row = frequencies_ * sizes_.patch(), together = std::max<std::size_t>(1, kPatchesTogether / of_row);
  std::vector<float> outputs, patches;
  outputs.reserve(rows * this->outputs());
  for (std::size_t first = 0; first < rows; first += together) {
    patches.clear();
    for (std::size_t row = first; row < std::min(rows, first + together); ++row) {
      add_patches(&frames[row * sizes_.time_stride * inputs_], patches);
    }
    const std::vector<float> products = product_.run(patches, low_, high_, 1);
    outputs.insert(outputs.end(), products.begin(), products.end());
  }
  return outputs;
}

// Keeps the frames that later outputs depend on, at the beginning zeros.
class ConvolutionLayer::Run : public LayerRun {
 public:
  explicit Run(const ConvolutionLayer& layer) : layer_(layer), frames_(before() * layer.inputs_) {}

  std::vector<float> run(std::vector<float> values, bool last, std::size_t) override {
    const Sizes& sizes = layer_.sizes_;
    frames_.insert(frames_.end(), values.begin(), values.end());
    const std::size_t count = frames_.size() / layer_.inputs_;
    std::size_t rows = count < sizes.time ? 0 : (count - sizes.time) / sizes.time_stride + 1;
    if (last) {
      rows = (count - std::min(count, before()) + sizes.time_stride - 1) / sizes.time_stride;
      const std::size_t needed = rows == 0 ? 0 : (rows - 1) * sizes.time_stride + sizes.time;
      frames_.resize(std::max(count, needed) * layer_.inputs_);
    }
    std::vector<float> outputs = layer_.run(frames_, rows);
    const std::size_t passed = std::min(rows * sizes.time_stride * layer_.inputs_, frames_.size());
    frames_.erase(frames_.begin(), frames_.begin() + static_cast<std::ptrdiff_t>(passed));
    return outputs;
  }

 private:
  std::size_t before() const { return (layer_.sizes_.time - 1) / 2; }

  const ConvolutionLayer& layer_;
  std::vector<float> frames_;
};

std::unique_ptr<LayerRun> ConvolutionLayer::begin() const { return std::make_unique<Run>(*this); }

}  // namespace speech
