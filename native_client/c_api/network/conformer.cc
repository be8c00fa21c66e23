#include "c_api/network/conformer.h"

#include <algorithm>
#include <cmath>
#include <memory>

namespace speech {
namespace {

float sigmoid(float value) { return 1 / (1 + std::exp(-std::max(value, -80.0f))); }

void swish(std::vector<float>& values) {
  for (float& value : values) value *= sigmoid(value);
}

}  // namespace

Product residual_product(const LayerRecord& record, const char* name, std::size_t inputs, std::size_t outputs,
                         WeightReader& weights, Precision precision) {
  const std::string scope = record.name + "/" + name;
  return weights.product(scope + "/weights", scope + "/bias", inputs, outputs, precision);
}

FeedForwardLayer::FeedForwardLayer(const LayerRecord& record, std::size_t inputs, WeightReader& weights,
                                   Precision precision)
    : normalizer_(record.name + "/normalization", inputs, weights),
      inner_(residual_product(record, "inner", inputs, record.size("units"), weights, precision)),
      outer_(residual_product(record, "outer", record.size("units"), inputs, weights, precision)) {}

std::vector<float> FeedForwardLayer::run(std::vector<float> values, std::size_t threads) const {
  std::vector<float> inner = values;
  normalizer_.run(inner);
  inner = inner_.run(inner, -kInfinity, kInfinity, threads);
  swish(inner);
  const std::vector<float> outer = outer_.run(inner, -kInfinity, kInfinity, threads);
  for (std::size_t place = 0; place < values.size(); ++place) values[place] += outer[place] * 0.5f;
  return values;
}

ConvolutionModuleLayer::ConvolutionModuleLayer(const LayerRecord& record, std::size_t inputs, WeightReader& weights,
                                               Precision precision)
    : width_(inputs),
      before_(record.size("before")),
      after_(record.size("after")),
      normalizer_(record.name + "/normalization", inputs, weights),
      second_normalizer_(record.name + "/second_normalization", inputs, weights),
      inner_(residual_product(record, "inner", inputs, 2 * inputs, weights, precision)),
      outer_(residual_product(record, "outer", inputs, inputs, weights, precision)),
      kernel_(weights.floats(record.name + "/depthwise/kernel", {static_cast<std::int64_t>(before_ + 1 + after_),
                                                                 static_cast<std::int64_t>(inputs)})),
      bias_(weights.floats(record.name + "/depthwise/bias", {static_cast<std::int64_t>(inputs)})) {}

// The first half of a product's numbers times the sigmoid of the second, [rows, width].
std::vector<float> ConvolutionModuleLayer::gated(std::vector<float> values, std::size_t threads) const {
  normalizer_.run(values);
  const std::vector<float> product = inner_.run(values, -kInfinity, kInfinity, threads);
  for (std::size_t row = 0; row < values.size() / width_; ++row) {
    const float* const linear = &product[2 * row * width_];
    for (std::size_t place = 0; place < width_; ++place) {
      values[row * width_ + place] = linear[place] * sigmoid(linear[width_ + place]);
    }
  }
  return values;
}

std::vector<float> ConvolutionModuleLayer::convolved(const std::vector<float>& gated, std::size_t rows) const {
  std::vector<float> sums;
  sums.reserve(rows * width_);
  for (std::size_t row = 0; row < rows; ++row) sums.insert(sums.end(), bias_.begin(), bias_.end());
  for (std::size_t row = 0; row < rows; ++row) {
    float* const sum = &sums[row * width_];
    const float* const from = &gated[row * width_];
    for (std::size_t offset = 0; offset < kernel_.size(); offset += width_) {
      for (std::size_t place = 0; place < width_; ++place) sum[place] += from[offset + place] * kernel_[offset + place];
    }
  }
  return sums;
}

// Keeps the rows whose outputs wait for later ones, and the gated rows that outputs depend on, at the beginning zeros.
class ConvolutionModuleLayer::Run : public LayerRun {
 public:
  explicit Run(const ConvolutionModuleLayer& layer) : layer_(layer), gated_(layer.before_ * layer.width_) {}

  std::vector<float> run(std::vector<float> values, bool last, std::size_t threads) override {
    const std::size_t width = layer_.width_, needed = layer_.before_ + layer_.after_;
    waiting_.insert(waiting_.end(), values.begin(), values.end());
    const std::vector<float> gated = layer_.gated(std::move(values), threads);
    gated_.insert(gated_.end(), gated.begin(), gated.end());
    if (last) gated_.resize(gated_.size() + layer_.after_ * width);
    const std::size_t count = gated_.size() / width, rows = count > needed ? count - needed : 0;
    std::vector<float> inner = layer_.convolved(gated_, rows);
    layer_.second_normalizer_.run(inner);
    swish(inner);
    std::vector<float> outputs = layer_.outer_.run(inner, -kInfinity, kInfinity, threads);
    for (std::size_t place = 0; place < outputs.size(); ++place) outputs[place] += waiting_[place];
    const auto passed = static_cast<std::ptrdiff_t>(rows * width);
    waiting_.erase(waiting_.begin(), waiting_.begin() + passed);
    gated_.erase(gated_.begin(), gated_.begin() + passed);
    return outputs;
  }

 private:
  const ConvolutionModuleLayer& layer_;
  std::vector<float> waiting_, gated_;
};

std::unique_ptr<LayerRun> ConvolutionModuleLayer::begin() const { return std::make_unique<Run>(*this); }

}  // namespace speech
