#include "c_api/network/convolution.h"

#include <algorithm>
#include <string>

#include "c_api/failure.h"

namespace speech {
namespace {

constexpr std::size_t kLargestKept = std::size_t{1} << 22;      // numbers of the frames that an output depends on
constexpr std::size_t kLargestPatches = std::size_t{1} << 22;   // numbers of the patches of a frame
constexpr std::size_t kLargestWork = std::size_t{1} << 31;      // products of a frame

[[noreturn]] void refuse(const LayerRecord& record, const char* why) {
  throw Failure(DS_ERR_INVALID_SHAPE, "its network cannot be run: layer " + record.name + " " + why);
}

}  // namespace

ConvolutionLayer::ConvolutionLayer(const LayerRecord& record, std::size_t inputs, WeightReader& weights,
                                   Precision precision)
    : sizes_(checked_sizes(record, inputs)),
      product_(read_product(sizes_, record, weights, precision)),
      low_(record.has("clip") ? 0 : -kInfinity),
      high_(record.has("clip") ? static_cast<float>(record.number("clip")) : kInfinity) {}

// The sizes are at most 2^20, and inputs at most 2^16, so none of these products overflows.
ConvolutionLayer::Sizes ConvolutionLayer::checked_sizes(const LayerRecord& record, std::size_t inputs) {
  const Sizes sizes{inputs, record.size("channels"), record.size("input_channels"), record.size("time"),
                    record.size("frequency"), record.size("time_stride"), record.size("frequency_stride")};
  if (std::min({sizes.channels, sizes.input_channels, sizes.time, sizes.frequency, sizes.time_stride,
                sizes.frequency_stride}) < 1) {
    refuse(record, "has a size or a stride of 0");
  }
  if (sizes.time < sizes.time_stride) refuse(record, "leaves frames out");
  if (inputs % sizes.input_channels != 0) refuse(record, "has inputs that are not those of its channels");
  const bool fits = sizes.time * inputs <= kLargestKept && sizes.frequency <= 2 * sizes.input_frequencies() + 1 &&
                    sizes.patch() * sizes.frequencies() <= kLargestPatches &&
                    sizes.patch() * sizes.outputs() <= kLargestWork;
  if (!fits) refuse(record, "is too large to be run");
  return sizes;
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

std::unique_ptr<LayerRun> ConvolutionLayer::begin() const {
  using Kernel = acoustic::Convolution;
  return std::make_unique<StatefulRun<Kernel>>(Kernel{sizes_, product_.layer(), low_, high_}, sizes_.inputs);
}

}  // namespace speech
