#include "c_api/network/lstm.h"

#include <algorithm>
#include <numeric>
#include <utility>

#include "c_api/failure.h"

namespace speech {
namespace {

constexpr std::size_t kGates = acoustic::kColumns / acoustic::kLanes;
constexpr std::size_t kForgetGate = 2;

// The layers in the kernels' form.
acoustic::RecurrentLayer layer_of(const Int16Blocks& blocks) { return blocks.layer(); }
acoustic::Int8Weights layer_of(const Int8Blocks& blocks) { return blocks.layer(); }
acoustic::Bfloat16Weights layer_of(const Bfloat16Blocks& blocks) { return blocks.layer(); }

// The rows [rows, size] from the last to the first.
std::vector<float> backwards(const std::vector<float>& rows, std::size_t size) {
  std::vector<float> reversed(rows.size());
  for (std::size_t place = 0; place < rows.size(); place += size) {
    std::copy_n(&rows[place], size, &reversed[rows.size() - size - place]);
  }
  return reversed;
}

}  // namespace

struct Lstm::Read {
  Read(const std::string& name, std::size_t lstm_inputs, std::size_t lstm_units, float forget_bias,
       WeightReader& weights)
      : inputs(lstm_inputs), units(lstm_units), columns(kGates * lstm_units) {
    const auto width = static_cast<std::int64_t>(columns);
    kernel = weights.floats(name + "/kernel", {static_cast<std::int64_t>(inputs + units), width});
    bias = weights.floats(name + "/bias", {width});
    for (std::size_t unit = 0; unit < units; ++unit) bias[kForgetGate * units + unit] += forget_bias;
    weights.hold_blocks(inputs, columns + kGates * acoustic::kLanes);
    weights.hold_blocks(units, columns + kGates * acoustic::kLanes);
  }

  std::size_t inputs, units, columns;
  std::vector<float> kernel, bias;
};

Lstm::Lstm(const std::string& name, std::size_t inputs, std::size_t units, float forget_bias, WeightReader& weights,
           Precision precision)
    : Lstm(Read(name, inputs, units, forget_bias, weights), precision) {}

Lstm::Lstm(const Read& read, Precision precision)
    : units_(read.units),
      input_gates_({read.kernel.data(), read.inputs, read.columns, true}, read.bias.data(), precision),
      recurrence_(recurrence_of({read.kernel.data() + read.inputs * read.columns, read.units, read.columns, true},
                                precision)) {}

Lstm::Recurrence Lstm::recurrence_of(const Matrix& matrix, Precision precision) {
  if (precision == Precision::kInt8) return Recurrence(std::in_place_type<Int8Blocks>, matrix);
  if (precision == Precision::kBfloat16) return Recurrence(std::in_place_type<Bfloat16Blocks>, matrix);
  return Recurrence(std::in_place_type<Int16Blocks>, matrix);
}

std::vector<float> Lstm::run(const std::vector<float>& values, LstmState& state, std::size_t threads) const {
  const std::vector<float> gates = input_gates_.run_filled(values, -kInfinity, kInfinity, threads);
  const std::size_t filled = input_gates_.width() / kGates, rows = gates.size() / input_gates_.width();
  state.cell.resize(filled);
  state.hidden.resize(filled);
  std::vector<float> hidden(rows * filled);
  const acoustic::Utterances utterances{{rows}, gates.data(), state.cell.data(), state.hidden.data(), hidden.data()};
  std::visit([&](const auto& blocks) { acoustic::recurrence(layer_of(blocks), utterances, threads); }, recurrence_);
  return first_columns(std::move(hidden), filled, units_);
}

std::unique_ptr<LayerRun> LstmLayer::begin() const {
  struct Run : LayerRun {
    explicit Run(const Lstm& of_layer) : lstm(of_layer) {}
    std::vector<float> run(std::vector<float> values, bool, std::size_t threads) override {
      return lstm.run(values, state, threads);
    }
    const Lstm& lstm;
    LstmState state;
  };
  return std::make_unique<Run>(lstm_);
}

TwoLstmsLayer::TwoLstmsLayer(const LayerRecord& record, std::size_t inputs, WeightReader& weights, Precision precision)
    : inputs_(inputs),
      chunk_(record.kind == LayerKind::kChunkedLstm ? checked_size(record, 0) : kWholeUtterance),
      first_chunk_(record.kind == LayerKind::kChunkedLstm ? checked_size(record, record.size("offset")) : kWholeUtterance),
      forward_(record.name + "/forward", inputs, record.size("units"), 0, weights, precision),
      backward_(record.name + "/backward", inputs, record.size("units"), 0, weights, precision) {}

std::size_t TwoLstmsLayer::checked_size(const LayerRecord& record, std::size_t missing) {
  const std::size_t chunk = record.size("chunk");
  if (chunk <= missing) {
    throw Failure(DS_ERR_INVALID_SHAPE,
                  "its network cannot be run: the chunks of layer " + record.name + " have no rows");
  }
  return chunk - missing;
}

// Keeps the rows of the incomplete chunk, and the state of the forward LSTM.
class TwoLstmsLayer::Run : public LayerRun {
 public:
  explicit Run(const TwoLstmsLayer& layer) : layer_(layer), chunk_(layer.first_chunk_) {}

  std::vector<float> run(std::vector<float> values, bool last, std::size_t threads) override {
    waiting_.insert(waiting_.end(), values.begin(), values.end());
    const std::size_t count = waiting_.size() / layer_.inputs_, units = layer_.forward_.units();
    const std::vector<std::size_t> sizes = complete_chunks(count, last);
    const std::vector<float> rows = taken(std::accumulate(sizes.begin(), sizes.end(), std::size_t{0}));
    const std::vector<float> forward = layer_.forward_.run(rows, state_, threads);
    std::vector<float> both(2 * forward.size());
    std::size_t begin = 0;
    for (const std::size_t size : sizes) {
      const std::vector<float> backward = over_chunk(rows, begin, size, threads);
      for (std::size_t place = 0; place < backward.size(); place += units) {
        float* const row = &both[2 * (begin * units + place)];
        std::copy_n(&forward[begin * units + place], units, row);
        std::copy_n(&backward[place], units, row + units);
      }
      begin += size;
    }
    return both;
  }

 private:
  // The rows of each chunk that is complete when `count` rows wait; at the end, all chunks are.
  std::vector<std::size_t> complete_chunks(std::size_t count, bool last) {
    std::vector<std::size_t> sizes;
    for (; count >= chunk_; chunk_ = layer_.chunk_) {
      sizes.push_back(chunk_);
      count -= chunk_;
    }
    if (last && count) sizes.push_back(count);
    return sizes;
  }

  // Removes the first `count` of the waiting rows and returns them.
  std::vector<float> taken(std::size_t count) {
    const auto end = waiting_.begin() + static_cast<std::ptrdiff_t>(count * layer_.inputs_);
    std::vector<float> rows(waiting_.begin(), end);
    waiting_.erase(waiting_.begin(), end);
    return rows;
  }

  // The hidden states of the backward LSTM for the `count` rows from `begin` on.
  std::vector<float> over_chunk(const std::vector<float>& rows, std::size_t begin, std::size_t count,
                                std::size_t threads) const {
    const auto first = rows.begin() + static_cast<std::ptrdiff_t>(begin * layer_.inputs_);
    const std::vector<float> chunk(first, first + static_cast<std::ptrdiff_t>(count * layer_.inputs_));
    LstmState state;
    return backwards(layer_.backward_.run(backwards(chunk, layer_.inputs_), state, threads), layer_.backward_.units());
  }

  const TwoLstmsLayer& layer_;
  std::size_t chunk_;  // the rows of the incomplete chunk
  std::vector<float> waiting_;
  LstmState state_;
};

std::unique_ptr<LayerRun> TwoLstmsLayer::begin() const { return std::make_unique<Run>(*this); }

}  // namespace speech
