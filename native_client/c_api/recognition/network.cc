#include "c_api/recognition/network.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "c_api/failure.h"
#include "shared/threads.h"

namespace speech {
namespace {

using acoustic::kColumns;
using acoustic::kLanes;

constexpr float kInfinity = std::numeric_limits<float>::infinity();
constexpr std::int64_t kWidestLayer = 1 << 16;
constexpr std::int64_t kWidestBias = 4 * kWidestLayer;  // that of an LSTM
constexpr std::size_t kGates = kColumns / kLanes;
constexpr std::size_t kFramesWorthThreads = 64;  // fewer are computed by the calling thread alone
constexpr std::size_t kUnitsWorthThreads = 128;
constexpr float kLargestInteger = 32767;  // that the largest recurrent weight of a column is rounded to
constexpr float kSmallestWeight = 1e-30f;

const std::string kLstm = "cudnn_lstm/rnn/multi_rnn_cell/cell_0/cudnn_compatible_lstm_cell";
const std::string kOlderLstm = "lstm_fused_cell";

// The column of a block that a column of the weights becomes; of gates, a block has all four of 16 units.
struct Place {
  std::size_t block, column;
};

Place place_of(std::size_t column, std::size_t columns, bool gates) {
  if (!gates) return {column / kColumns, column % kColumns};
  const std::size_t units = columns / kGates, gate = column / units, unit = column % units;
  return {unit / kLanes, gate * kLanes + unit % kLanes};
}

std::size_t blocks_of(std::size_t columns, bool gates) {
  const std::size_t fit = gates ? kLanes : kColumns;
  return ((gates ? columns / kGates : columns) + fit - 1) / fit;
}

// The name of a variable in a graph of any generation.
std::string name_in(const FrozenGraph& graph, const std::string& name, const std::string& older) {
  return !graph.has(name) && graph.has(older) ? older : name;
}

std::vector<float> finite_floats(const FrozenGraph& graph, const std::string& name, const Shape& shape) {
  std::vector<float> values = graph.floats(name, shape);
  if (!std::all_of(values.begin(), values.end(), [](float value) { return std::isfinite(value); })) {
    throw Failure(DS_ERR_FAIL_READ_PROTOBUF, "its weights " + name + " hold numbers that are not finite");
  }
  return values;
}

// The number of values of a bias.
std::int64_t width_of(const FrozenGraph& graph, const std::string& bias) {
  const Shape shape = graph.shape_of(bias);
  if (shape.size() != 1 || shape[0] < 1 || shape[0] > kWidestBias) {
    throw Failure(DS_ERR_INVALID_SHAPE, "its layers do not fit together: " + bias + " has shape " + in_words(shape));
  }
  return shape[0];
}

// The limit of the clipped ReLUs; infinite without one.
float find_clip(const FrozenGraph& graph) {
  for (const Node& node : graph.nodes()) {
    if (node.op != "Minimum" || node.inputs.size() != 2) continue;
    const auto limit = graph.single_float(node.inputs[1].substr(0, node.inputs[1].find(':')));
    if (limit) return *limit;
  }
  return kInfinity;
}

// What the first generation's LSTM adds to the forget gate when it runs.
float find_forget_bias(const FrozenGraph& graph) {
  for (const Node& node : graph.nodes()) {
    if (node.op == "BlockLSTM" || node.op == "BlockLSTMV2" || node.op == "LSTMBlockCell") {
      return graph.float_attribute(node, "forget_bias", 1.0f);
    }
  }
  return 0;
}

void softmax(float* row, std::size_t size) {
  const float highest = *std::max_element(row, row + size);
  float sum = 0;
  for (std::size_t place = 0; place < size; ++place) sum += row[place] = std::exp(row[place] - highest);
  for (std::size_t place = 0; place < size; ++place) row[place] /= sum;
}

// The first `kept` of the columns of each row.
std::vector<float> first_columns(std::vector<float> rows, std::size_t columns, std::size_t kept) {
  if (kept == columns) return rows;
  const std::size_t count = rows.size() / columns;
  for (std::size_t row = 1; row < count; ++row) {
    std::copy_n(rows.begin() + static_cast<std::ptrdiff_t>(row * columns), kept,
                rows.begin() + static_cast<std::ptrdiff_t>(row * kept));
  }
  rows.resize(count * kept);
  return rows;
}

}  // namespace

Product::Product(const float* weights, const float* bias, std::size_t rows, std::size_t columns, bool gates)
    : rows_(rows), blocks_(blocks_of(columns, gates)), weights_(blocks_ * rows * kColumns), bias_(blocks_ * kColumns) {
  std::vector<std::size_t> offsets(columns);  // of each column, in a block's first row
  for (std::size_t column = 0; column < columns; ++column) {
    const Place place = place_of(column, columns, gates);
    bias_[place.block * kColumns + place.column] = bias[column];
    offsets[column] = place.block * rows * kColumns + place.column;
  }
  for (std::size_t row = 0; row < rows; ++row) {
    for (std::size_t column = 0; column < columns; ++column) {
      weights_[offsets[column] + row * kColumns] = weights[row * columns + column];
    }
  }
}

std::vector<float> Product::run(const std::vector<float>& inputs, float low, float high, std::size_t threads) const {
  const std::size_t frames = inputs.size() / rows_;
  std::vector<float> outputs(frames * width());
  acoustic::dense({weights_.data(), bias_.data(), blocks_, rows_}, inputs.data(), frames, low, high, threads,
                  outputs.data());
  return outputs;
}

Network::Network(const FrozenGraph& graph, const SpeechModel& model)
    : inputs_((2 * model.context + 1) * model.features.coefficients),
      outputs_(model.labels.size() + 1),
      clip_(find_clip(graph)),
      cores_(shared::usable_cores()) {
  layer_1_ = dense(graph, "layer_1", "1", inputs_);
  layer_2_ = dense(graph, "layer_2", "2", layer_1_.units);
  layer_3_ = dense(graph, "layer_3", "3", layer_2_.units);
  read_lstm(graph, layer_3_.units);
  layer_5_ = dense(graph, "layer_5", "5", units_);
  layer_6_ = dense(graph, "layer_6", "6", layer_5_.units);
  if (layer_6_.units != outputs_) {
    throw Failure(DS_ERR_INVALID_SHAPE, "its alphabet has " + std::to_string(model.labels.size()) +
                                            " labels, but the network has " + std::to_string(layer_6_.units) +
                                            " outputs");
  }
}

Network::Dense Network::dense(const FrozenGraph& graph, const std::string& name, const std::string& older,
                              std::size_t inputs) {
  const std::string weights = name_in(graph, name + "/weights", "h" + older);
  const std::string bias = name_in(graph, name + "/bias", "b" + older);
  const std::int64_t units = width_of(graph, bias);
  if (units > kWidestLayer) throw Failure(DS_ERR_INVALID_SHAPE, "its layer " + name + " is too large to be run");
  const auto of_bias = finite_floats(graph, bias, {units});
  const auto of_weights = finite_floats(graph, weights, {static_cast<std::int64_t>(inputs), units});
  const auto width = static_cast<std::size_t>(units);
  return {Product(of_weights.data(), of_bias.data(), inputs, width, false), width};
}

void Network::read_lstm(const FrozenGraph& graph, std::size_t inputs) {
  const std::string kernel = name_in(graph, kLstm + "/kernel", kOlderLstm + "/kernel");
  const std::string bias = name_in(graph, kLstm + "/bias", kOlderLstm + "/bias");
  const std::int64_t width = width_of(graph, bias);
  if (width % static_cast<std::int64_t>(kGates) != 0) {
    throw Failure(DS_ERR_INVALID_SHAPE, "its layers do not fit together: " + bias + " is not that of four gates");
  }
  const auto columns = static_cast<std::size_t>(width);
  units_ = columns / kGates;
  blocks_ = blocks_of(columns, true);
  std::vector<float> biases = finite_floats(graph, bias, {width});
  const float forget_bias = find_forget_bias(graph);
  for (std::size_t unit = 0; unit < units_; ++unit) biases[2 * units_ + unit] += forget_bias;
  const std::vector<float> weights =
      finite_floats(graph, kernel, {static_cast<std::int64_t>(inputs + units_), width});
  input_gates_ = Product(weights.data(), biases.data(), inputs, columns, true);
  const float* const recurrent = weights.data() + inputs * columns;
  recurrent_.assign(blocks_ * units_ * kColumns, 0);
  scales_.assign(blocks_ * kColumns, kSmallestWeight / kLargestInteger);
  std::vector<float> of_columns(columns, kSmallestWeight);  // the largest weight, then the scale
  for (std::size_t place = 0; place < units_ * columns; ++place) {
    float& largest = of_columns[place % columns];
    largest = std::max(largest, std::abs(recurrent[place]));
  }
  std::vector<std::size_t> offsets(columns);
  for (std::size_t column = 0; column < columns; ++column) {
    const Place place = place_of(column, columns, true);
    scales_[place.block * kColumns + place.column] = of_columns[column] /= kLargestInteger;
    offsets[column] = place.block * units_ * kColumns + place.column;
  }
  for (std::size_t row = 0; row < units_; ++row) {
    for (std::size_t column = 0; column < columns; ++column) {
      const float rounded = std::nearbyint(recurrent[row * columns + column] / of_columns[column]);
      recurrent_[offsets[column] + row * kColumns] = static_cast<std::int16_t>(rounded);
    }
  }
}

std::vector<float> Network::run(const std::vector<float>& windows, NetworkState& state) const {
  const std::size_t frames = windows.size() / inputs_;
  const std::size_t threads = frames >= kFramesWorthThreads ? cores_ : 1;
  std::vector<float> values = run_dense(layer_1_, windows, true, threads);
  values = run_dense(layer_2_, values, true, threads);
  values = run_dense(layer_3_, values, true, threads);
  values = run_lstm(values, state, frames, threads);
  values = run_dense(layer_5_, values, true, threads);
  values = run_dense(layer_6_, values, false, threads);
  for (std::size_t frame = 0; frame < frames; ++frame) softmax(&values[frame * outputs_], outputs_);
  return values;
}

std::vector<float> Network::run_dense(const Dense& layer, const std::vector<float>& inputs, bool clipped,
                                      std::size_t threads) const {
  const std::size_t shared_out = layer.units > kUnitsWorthThreads ? threads : 1;
  const float low = clipped ? 0 : -kInfinity, high = clipped ? clip_ : kInfinity;
  return first_columns(layer.product.run(inputs, low, high, shared_out), layer.product.width(), layer.units);
}

std::vector<float> Network::run_lstm(const std::vector<float>& inputs, NetworkState& state, std::size_t frames,
                                     std::size_t threads) const {
  const std::size_t filled = blocks_ * kLanes;
  state.cell.resize(filled);
  state.hidden.resize(filled);
  const std::vector<float> gates = input_gates_.run(inputs, -kInfinity, kInfinity, threads);
  std::vector<float> hidden(frames * filled);
  const acoustic::Utterances utterances{{frames}, gates.data(), state.cell.data(), state.hidden.data(), hidden.data()};
  acoustic::recurrence({recurrent_.data(), scales_.data(), blocks_, units_}, utterances, threads);
  return first_columns(std::move(hidden), filled, units_);
}

}  // namespace speech
