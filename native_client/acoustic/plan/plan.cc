#include "acoustic/plan/plan.h"

#include <algorithm>
#include <cstring>
#include <memory>
#include <stdexcept>
#include <utility>

#include "shared/aligned_array.h"
#include "shared/softmax.h"

namespace acoustic {
namespace {

// Memory for numbers that is reused.
class Buffer {
 public:
  // Returns uninitialized memory for numbers; its old content is lost.
  float* room(std::size_t size) {
    if (size > capacity_) {
      values_ = shared::aligned_array<float>(size);
      capacity_ = size;
    }
    return values_.get();
  }

 private:
  shared::AlignedArray<float> values_;
  std::size_t capacity_ = 0;
};

}  // namespace

struct Workspace {
  Buffer of_steps[2];  // steps write to them alternately
  Buffer cells, hidden;
};

namespace {

// The numbers of a frame that a step takes and returns. `filled` is the number that its kernel writes, and `state` the
// size of an utterance's cells, and of its hidden states.
struct Sizes {
  std::size_t inputs, outputs, filled, state;
};

Sizes sizes_of(const DenseStep& step) {
  return {step.product.inputs(), step.product.units, step.product.filled(), 0};
}

Sizes sizes_of(const RecurrentStep& step) {
  return std::visit(
      [](const auto& layer) -> Sizes {
        const std::size_t filled = layer.blocks * kLanes;
        return {layer.blocks * kColumns, layer.rows, filled, filled};
      },
      step.layer);
}

Sizes sizes_of(const NormalizationStep& step) { return {step.width, step.width, step.width, 0}; }

Sizes sizes_of(const FeedForwardStep& step) {
  const std::size_t width = step.normalization.width;
  return {width, width, width, 0};
}

Sizes sizes_of(const SoftmaxStep& step) { return {step.units, step.units, step.units, 0}; }

Sizes sizes_of(const Step& step) {
  return std::visit([](const auto& each) { return sizes_of(each); }, step);
}

// One batch on its way through a plan.
class Run {
 public:
  Run(const std::vector<PlannedUtterance>& utterances, std::size_t threads, Machine machine, Workspace& workspace)
      : utterances_(utterances), threads_(threads), machine_(machine), workspace_(workspace) {
    for (const PlannedUtterance& each : utterances) {
      lengths_.push_back(each.length);
      frames_ += each.length;
    }
  }

  // Begins with the inputs of all utterances, one after the other.
  void gather(std::size_t width) {
    float* to = values_ = next_room(width);
    for (const PlannedUtterance& each : utterances_) to = std::copy_n(each.inputs, each.length * width, to);
  }

  void compute(const DenseStep& step) {
    const Sizes sizes = sizes_of(step);
    float* const outputs = next_room(sizes.filled);
    step.product.run(values_, frames_, threads_, outputs, step.low, step.high, machine_);
    go_on_with(outputs, sizes);
  }

  void compute(const RecurrentStep& step) {
    const Sizes sizes = sizes_of(step);
    float* const cells = states(workspace_.cells, sizes.state);
    float* const hidden = states(workspace_.hidden, sizes.state);
    float* const outputs = next_room(sizes.filled);
    const Utterances all{lengths_, values_, cells, hidden, outputs};
    std::visit([&](const auto& layer) { recurrence(layer, all, threads_, machine_); }, step.layer);
    keep(cells, sizes.state);
    keep(hidden, sizes.state);
    go_on_with(outputs, sizes);
  }

  void compute(const NormalizationStep& step) { normalize(step, values_, frames_, values_, machine_); }

  void compute(const FeedForwardStep& step) { step.run(values_, frames_, threads_, machine_); }

  void compute(const SoftmaxStep& step) {
    for (std::size_t frame = 0; frame < frames_; ++frame) shared::softmax(values_ + frame * step.units, step.units);
  }

  // Copies the outputs to all utterances.
  void scatter(std::size_t width) const {
    const float* from = values_;
    for (const PlannedUtterance& each : utterances_) {
      std::copy_n(from, each.length * width, each.outputs);
      from += each.length * width;
    }
  }

 private:
  float* next_room(std::size_t width) { return workspace_.of_steps[written_++ % 2].room(frames_ * width); }

  // Makes outputs the next step's inputs, without the columns that pad the last block.
  void go_on_with(float* outputs, const Sizes& sizes) {
    values_ = outputs;
    if (sizes.filled == sizes.outputs) return;
    for (std::size_t frame = 1; frame < frames_; ++frame) {
      std::memmove(outputs + frame * sizes.outputs, outputs + frame * sizes.filled, sizes.outputs * sizeof(float));
    }
  }

  // The next part of the utterances' states.
  float* states(Buffer& buffer, std::size_t size) {
    float* const values = buffer.room(utterances_.size() * size);
    float* to = values;
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
  Workspace& workspace_;
  float* values_ = nullptr;  // [frames, width], in the workspace
  std::vector<std::size_t> lengths_;
  std::size_t frames_ = 0, written_ = 0, taken_ = 0, kept_ = 0;
};

}  // namespace

Plan::Plan(std::vector<Step> steps) : steps_(std::move(steps)) {
  if (steps_.empty()) throw std::invalid_argument("a plan needs a step");
  outputs_ = inputs_ = sizes_of(steps_[0]).inputs;
  for (const Step& step : steps_) {
    const Sizes sizes = sizes_of(step);
    if (sizes.inputs != outputs_) throw std::invalid_argument("a step's inputs must be the previous step's outputs");
    if (sizes.outputs > sizes.filled) throw std::invalid_argument("a step cannot have more outputs than its weights");
    outputs_ = sizes.outputs;
    state_size_ += 2 * sizes.state;
  }
}

Plan::~Plan() { delete spare_.load(); }

void Plan::run(const std::vector<PlannedUtterance>& utterances, std::size_t threads, Machine machine) const {
  std::unique_ptr<Workspace> workspace(spare_.exchange(nullptr));
  if (!workspace) workspace = std::make_unique<Workspace>();
  Run run(utterances, threads, machine, *workspace);
  run.gather(inputs_);
  for (const Step& step : steps_) std::visit([&](const auto& each) { run.compute(each); }, step);
  run.scatter(outputs_);
  workspace.reset(spare_.exchange(workspace.release()));
}

}  // namespace acoustic
