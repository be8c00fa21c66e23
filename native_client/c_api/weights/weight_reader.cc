#include "c_api/weights/weight_reader.h"

#include <algorithm>
#include <cmath>

#include "c_api/failure.h"
#include "c_api/graph/layer_records.h"

namespace speech {
namespace {

// Equal weights can be written as one number, and blocks are padded, so weights may take several times the file's size,
// and some more.
constexpr std::size_t kMostExpansion = 16;
constexpr std::size_t kMostUnwritten = std::size_t{1} << 26;

}  // namespace

std::vector<float> WeightReader::floats(const std::string& name, const Shape& shape) {
  const std::string found = variable_in(graph_, name);
  std::size_t count = 1;  // sizes are bounded, so their product does not overflow
  for (const std::int64_t size : shape) count *= static_cast<std::size_t>(size);
  hold(count * sizeof(float));
  std::vector<float> values = graph_.floats(found, shape);
  if (!std::all_of(values.begin(), values.end(), [](float value) { return std::isfinite(value); })) {
    throw Failure(DS_ERR_FAIL_READ_PROTOBUF, "its weights " + found + " hold numbers that are not finite");
  }
  return values;
}

Product WeightReader::product(const std::string& weights, const std::string& bias, std::size_t rows,
                              std::size_t columns, Precision precision) {
  const auto size = [](std::size_t number) { return static_cast<std::int64_t>(number); };
  const std::vector<float> biases = floats(bias, {size(columns)});
  const std::vector<float> matrix = floats(weights, {size(rows), size(columns)});
  hold_blocks(rows, columns);
  return Product({matrix.data(), rows, columns, false}, biases.data(), precision);
}

void WeightReader::hold_blocks(std::size_t rows, std::size_t columns) {
  constexpr std::size_t kFill = acoustic::kColumns;
  hold((rows + kFill) * (columns + kFill) * sizeof(float));
}

float WeightReader::forget_bias() const {
  for (const Node& node : graph_.nodes()) {
    if (node.op == "BlockLSTM" || node.op == "BlockLSTMV2" || node.op == "LSTMBlockCell") {
      return graph_.float_attribute(node, "forget_bias", 1.0f);
    }
  }
  return 0;
}

void WeightReader::hold(std::size_t bytes) {
  held_ += bytes;
  if (held_ > kMostUnwritten + kMostExpansion * graph_.file_size()) {
    throw Failure(DS_ERR_INVALID_SHAPE, "declares weights that need " + std::to_string(held_) + " bytes, which its " +
                                            std::to_string(graph_.file_size()) + " bytes cannot hold");
  }
}

}  // namespace speech
