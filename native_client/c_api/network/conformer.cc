#include "c_api/network/conformer.h"

#include "c_api/failure.h"

namespace speech {
namespace {

// The product with a layer's weights `name`, "inner" or "outer".
Product residual_product(const LayerRecord& record, const char* name, std::size_t inputs, std::size_t outputs,
                         WeightReader& weights, Precision precision) {
  const std::string scope = record.name + "/" + name;
  return weights.product(scope + "/weights", scope + "/bias", inputs, outputs, precision);
}

}  // namespace

FeedForwardLayer::FeedForwardLayer(const LayerRecord& record, std::size_t inputs, WeightReader& weights,
                                   Precision precision)
    : normalizer_(record.name + "/normalization", inputs, weights),
      inner_(residual_product(record, "inner", inputs, record.size("units"), weights, precision)),
      outer_(residual_product(record, "outer", record.size("units"), inputs, weights, precision)) {}

std::vector<float> FeedForwardLayer::run(std::vector<float> values, std::size_t threads) const {
  const acoustic::FeedForward kernel{normalizer_.layer(), inner_.layer(), outer_.layer()};
  kernel.run(values.data(), values.size() / outputs(), threads);
  return values;
}

ConvolutionModuleLayer::ConvolutionModuleLayer(const LayerRecord& record, std::size_t inputs, WeightReader& weights,
                                               Precision precision)
    : width_(inputs),
      taps_(record.size("before") + 1 + record.size("after")),
      after_(record.size("after")),
      normalizer_(record.name + "/normalization", inputs, weights),
      second_normalizer_(record.name + "/second_normalization", inputs, weights),
      inner_(residual_product(record, "inner", inputs, 2 * inputs, weights, precision)),
      outer_(residual_product(record, "outer", inputs, inputs, weights, precision)),
      kernel_(weights.floats(record.name + "/depthwise/kernel",
                             {static_cast<std::int64_t>(taps_), static_cast<std::int64_t>(inputs)})),
      bias_(weights.floats(record.name + "/depthwise/bias", {static_cast<std::int64_t>(inputs)})) {}

std::unique_ptr<LayerRun> ConvolutionModuleLayer::begin() const {
  using Kernel = acoustic::ConvolutionModule;
  const Kernel kernel{normalizer_.layer(), inner_.layer(), {kernel_.data(), bias_.data(), taps_, width_},
                      second_normalizer_.layer(), outer_.layer(), after_};
  return std::make_unique<StatefulRun<Kernel>>(kernel, width_);
}

SelfAttentionLayer::SelfAttentionLayer(const LayerRecord& record, std::size_t inputs, WeightReader& weights,
                                       Precision precision)
    : width_(inputs),
      heads_(checked_heads(record, inputs)),
      chunk_(record.size("chunk")),
      left_(record.size("left")),
      normalizer_(record.name + "/normalization", inputs, weights),
      inner_(residual_product(record, "inner", inputs, 3 * inputs, weights, precision)),
      outer_(residual_product(record, "outer", inputs, inputs, weights, precision)) {}

std::size_t SelfAttentionLayer::checked_heads(const LayerRecord& record, std::size_t inputs) {
  const std::size_t heads = record.size("heads");
  if (heads < 1 || inputs % (2 * heads) != 0) {
    throw Failure(DS_ERR_INVALID_SHAPE, "its network cannot be run: layer " + record.name + " has " +
                                            std::to_string(heads) + " heads, which cannot share " +
                                            std::to_string(inputs) + " numbers in pairs");
  }
  return heads;
}

std::unique_ptr<LayerRun> SelfAttentionLayer::begin() const {
  using Kernel = acoustic::SelfAttention;
  const Kernel kernel{normalizer_.layer(), inner_.layer(), outer_.layer(), heads_, chunk_, left_};
  return std::make_unique<StatefulRun<Kernel>>(kernel, width_);
}

}  // namespace speech
