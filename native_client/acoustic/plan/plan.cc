#include "acoustic/plan/plan.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <stdexcept>
#include <utility>

#include "shared/aligned_array.h"

namespace acoustic {
namespace {

constexpr std::size_t kUnitsWorthThreads = 128;  // layers of at most this number are computed by one thread

using Values = shared::AlignedArray<float>;

Values values_of(std::size_t size) { return shared::aligned_array<float>(size); }

std::size_t inputs_of(const DenseLayer& layer) { return layer.rows; }
std::size_t inputs_of(const Int8DenseLayer& layer) { return layer.weights.rows; }
std::size_t inputs_of(const Bfloat16DenseLayer& layer) { return layer.weights.rows; }

std::size_t blocks_of(const DenseLayer& layer) { return layer.blocks; }
std::size_t blocks_of(const Int8DenseLayer& layer) { return layer.weights.blocks; }
std::size_t blocks_of(const Bfloat16DenseLayer& layer) { return layer.weights.blocks; }

// Numbers of a frame that a step takes and gives; `filled` are those that its kernel writes, and `state` the size of
// the cells, and of the hidden states, of an utterance.
struct Sizes {
  std::size_t inputs, outputs, filled, state;
};

Sizes sizes_of(const DenseStep& step) {
  return std::visit(
      [&](const auto& layer) -> Sizes {
        return {inputs_of(layer), step.units, blocks_of(layer) * kColumns, 0};
      },
      step.layer);
}

Sizes sizes_of(const RecurrentStep& step) {
  return std::visit(
      [](const auto& layer) -> Sizes {
        const std::size_t filled = layer.blocks * kLanes;
        return {layer.blocks * kColumns, layer.rows, filled, filled};
      },
      step.layer);
}

Sizes sizes_of(const SoftmaxStep& step) { return {step.units, step.units, step.units, 0}; }

Sizes sizes_of(const Step& step) {
  return std::visit([](const auto& each) { return sizes_of(each); }, step);
}

void softmax(float* values, std::size_t units) {
  const float highest = *std::max_element(values, values + units);
  float sum = 0;
  for (std::size_t unit = 0; unit < units; ++unit) sum += values[unit] = std::exp(values[unit] - highest);
  for (std::size_t unit = 0; unit < units; ++unit) values[unit] /= sum;
}

// One batch on its way through a plan.
class Run {
 public:
  Run(const std::vector<PlannedUtterance>& utterances, std::size_t threads, Machine machine)
      : utterances_(utterances), threads_(threads), machine_(machine) {
    for (const PlannedUtterance& each : utterances) {
      lengths_.push_back(each.length);
      frames_ += each.length;
    }
  }

  // The inputs of all utterances, one after the other.
  Values gathered(std::size_t width) const {
    Values values = values_of(frames_ * width);
    float* to = values.get();
    for (const PlannedUtterance& each : utterances_) to = std::copy_n(each.inputs, each.length * width, to);
    return values;
  }

  Values after(const DenseStep& step, Values inputs) {
    const Sizes sizes = sizes_of(step);
    Values outputs = values_of(frames_ * sizes.filled);
    const std::size_t threads = step.units > kUnitsWorthThreads ? threads_ : 1;
    const auto run = [&](const auto& layer) {
      dense(layer, inputs.get(), frames_, step.low, step.high, threads, outputs.get(), machine_);
    };
    std::visit(run, step.layer);
    narrow(outputs.get(), sizes);
    return outputs;
  }

  Values after(const RecurrentStep& step, Values gates) {
    const Sizes sizes = sizes_of(step);
    Values cells = states(sizes.state), hidden = states(sizes.state);
    Values outputs = values_of(frames_ * sizes.filled);
    const Utterances all{lengths_, gates.get(), cells.get(), hidden.get(), outputs.get()};
    std::visit([&](const auto& layer) { recurrence(layer, all, threads_, machine_); }, step.layer);
    keep(cells.get(), sizes.state);
    keep(hidden.get(), sizes.state);
    narrow(outputs.get(), sizes);
    return outputs;
  }

  Values after(const SoftmaxStep& step, Values values) {
    for (std::size_t frame = 0; frame < frames_; ++frame) softmax(values.get() + frame * step.units, step.units);
    return values;
  }

  // Hands out the outputs of all utterances.
  void scatter(const float* outputs, std::size_t width) const {
    for (const PlannedUtterance& each : utterances_) {
      std::copy_n(outputs, each.length * width, each.outputs);
      outputs += each.length * width;
    }
  }

 private:
  // Leaves the columns out that fill up the last block.
  void narrow(float* values, const Sizes& sizes) const {
    if (sizes.filled == sizes.outputs) return;
    for (std::size_t frame = 1; frame < frames_; ++frame) {
      std::memmove(values + frame * sizes.outputs, values + frame * sizes.filled, sizes.outputs * sizeof(float));
    }
  }

  // The part of the utterances' states that comes next.
  Values states(std::size_t size) {
    Values values = values_of(utterances_.size() * size);
    float* to = values.get();
    for (const PlannedUtterance& each : utterances_) to = std::copy_n(each.state + taken_, size, to);
    taken_ += size;
    return values;
  }

  // Makes values the next part of the utterances' new states.
  void keep(const float* values, std::size_t size) {
    for (const PlannedUtterance& each : utterances_) {
      std::copy_n(values, size, each.new_state + kept_);
      values += size;
    }
    kept_ += size;
  }

  const std::vector<PlannedUtterance>& utterances_;
  const std::size_t threads_;
  const Machine machine_;
  std::vector<std::size_t> lengths_;
  std::size_t frames_ = 0, taken_ = 0, kept_ = 0;
};

}  // namespace

Plan::Plan(std::vector<Step> steps) : steps_(std::move(steps)) {
  if (steps_.empty()) throw std::invalid_argument("a plan needs a step");
  outputs_ = inputs_ = sizes_of(steps_[0]).inputs;
  for (const Step& step : steps_) {
    const Sizes sizes = sizes_of(step);
    if (sizes.inputs != outputs_) throw std::invalid_argument("a step must take what the one before it gives");
    if (sizes.outputs > sizes.filled) throw std::invalid_argument("a step cannot give more than its weights do");
    outputs_ = sizes.outputs;
    state_size_ += 2 * sizes.state;
  }
}

void Plan::run(const std::vector<PlannedUtterance>& utterances, std::size_t threads, Machine machine) const {
  Run run(utterances, threads, machine);
  Values values = run.gathered(inputs_);
  for (const Step& step : steps_) {
    values = std::visit([&](const auto& each) { return run.after(each, std::move(values)); }, step);
  }
  run.scatter(values.get(), outputs_);
}

}  // namespace acoustic
