// Plans, against their layers run one after the other.
#include "acoustic/plan/plan.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <stdexcept>

#include "fixtures.h"
#include "testing.h"

namespace {

using namespace acoustic;
using fixtures::Random;
using fixtures::random_floats;

using Floats = std::vector<float>;

template <class Integer>
std::vector<Integer> random_integers(Random& random, std::size_t size, unsigned largest) {
  std::vector<Integer> values(size);
  for (Integer& value : values) value = static_cast<Integer>(random() % largest);
  return values;
}

std::size_t filled(std::size_t rows, std::size_t multiple) { return (rows + multiple - 1) / multiple * multiple; }

// Weights of some rows, of each precision.
struct Weights {
  std::size_t rows, blocks;
  Floats floats, scales, bias;
  std::vector<std::int16_t> shorts;
  std::vector<std::int8_t> bytes;
  std::vector<std::int32_t> sums;
  std::vector<std::uint16_t> halves;

  Weights(Random& random, std::size_t rows, std::size_t blocks)
      : rows(rows), blocks(blocks), floats(random_floats(random, blocks * rows * kColumns, 0.2f)),
        scales(random_floats(random, blocks * kColumns, 1e-3f)), bias(random_floats(random, blocks * kColumns, 0.5f)),
        shorts(random_integers<std::int16_t>(random, blocks * rows * kColumns, 100)),
        bytes(random_integers<std::int8_t>(random, blocks * filled(rows, kRowsFill) * kColumns, 100)),
        sums(random_integers<std::int32_t>(random, blocks * kColumns, 1000)),
        halves(random_integers<std::uint16_t>(random, blocks * filled(rows, 32) * kColumns, 0x3e00)) {}

  Int8Weights int8() const { return {bytes.data(), scales.data(), sums.data(), blocks, rows}; }
  Bfloat16Weights bfloat16() const { return {halves.data(), blocks, rows}; }

  DenseStep dense(int precision, std::size_t units, float low, float high) const {
    if (precision == 0) return {{DenseLayer{floats.data(), bias.data(), blocks, rows}, units}, low, high};
    if (precision == 1) return {{Bfloat16DenseLayer{bfloat16(), bias.data()}, units}, low, high};
    return {{Int8DenseLayer{int8(), bias.data()}, units}, low, high};
  }

  RecurrentStep recurrent(int precision) const {
    if (precision == 0) return {RecurrentLayer{shorts.data(), scales.data(), blocks, rows}};
    if (precision == 1) return {bfloat16()};
    return {int8()};
  }
};

// A network of a dense layer, an LSTM and a softmax, whose widths do not fill their blocks.
struct Network {
  std::size_t inputs, units, outputs;
  Weights first, gates, recurrent, last;
  int precision;

  Network(Random& random, int precision)
      : inputs(1 + random() % 90), units(1 + random() % 40), outputs(2 + random() % 70),
        first(random, inputs, 2), gates(random, 100, (units + kLanes - 1) / kLanes),
        recurrent(random, units, gates.blocks), last(random, units, 2), precision(precision) {}

  std::vector<Step> steps() const {
    return {first.dense(precision, 100, 0, 20), gates.dense(precision, gates.blocks * kColumns, -INFINITY, INFINITY),
            recurrent.recurrent(precision), last.dense(precision, outputs, -INFINITY, INFINITY), SoftmaxStep{outputs}};
  }
};

// The result of a dense step, by its kernel alone.
Floats after(const DenseStep& step, std::size_t blocks, const Floats& inputs, std::size_t frames) {
  Floats all(frames * blocks * kColumns), kept;
  std::visit([&](const auto& layer) { dense(layer, inputs.data(), frames, step.low, step.high, 1, all.data()); },
             step.product.layer);
  for (std::size_t frame = 0; frame < frames; ++frame) {
    const auto row = all.begin() + long(frame * blocks * kColumns);
    kept.insert(kept.end(), row, row + long(step.product.units));
  }
  return kept;
}

struct Utterance {
  std::size_t length;
  Floats inputs, state, outputs, new_state;

  Utterance(Random& random, const Plan& plan, std::size_t length)
      : length(length), inputs(random_floats(random, length * plan.inputs(), 2)),
        state(random_floats(random, plan.state_size(), 1)), outputs(length * plan.outputs(), NAN),
        new_state(plan.state_size(), NAN) {}

  PlannedUtterance view() { return {inputs.data(), length, state.data(), outputs.data(), new_state.data()}; }

  // Computes the outputs and the new state layer by layer.
  void run_layers(const Network& network) {
    const std::vector<Step> steps = network.steps();
    const std::size_t width = network.gates.blocks * kLanes;
    const Floats hidden = after(std::get<DenseStep>(steps[0]), 2, inputs, length);
    const Floats gates = after(std::get<DenseStep>(steps[1]), network.gates.blocks, hidden, length);
    Floats states(length * width), of_units;
    new_state = state;
    const Utterances all{{length}, gates.data(), new_state.data(), new_state.data() + width, states.data()};
    std::visit([&](const auto& layer) { recurrence(layer, all, 1); }, std::get<RecurrentStep>(steps[2]).layer);
    for (std::size_t frame = 0; frame < length; ++frame) {
      const auto row = states.begin() + long(frame * width);
      of_units.insert(of_units.end(), row, row + long(network.units));
    }
    outputs = after(std::get<DenseStep>(steps[3]), 2, of_units, length);
    for (std::size_t frame = 0; frame < length; ++frame) {
      float* const row = outputs.data() + frame * network.outputs;
      const float highest = *std::max_element(row, row + network.outputs);
      double sum = 0;
      for (std::size_t unit = 0; unit < network.outputs; ++unit) sum += std::exp(double(row[unit] - highest));
      for (std::size_t unit = 0; unit < network.outputs; ++unit) {
        row[unit] = static_cast<float>(std::exp(double(row[unit] - highest)) / sum);
      }
    }
  }
};

TEST(a_plan_equals_its_layers_one_after_the_other) {
  Random random(31);
  for (int round = 0; round < 60; ++round) {
    const Network network(random, round % 3);
    const Plan plan(network.steps());
    CHECK(plan.inputs() == network.inputs && plan.outputs() == network.outputs);
    std::vector<Utterance> utterances;
    for (std::size_t count = random() % 40; count; --count) utterances.emplace_back(random, plan, random() % 7);
    std::vector<PlannedUtterance> views;
    for (Utterance& each : utterances) views.push_back(each.view());
    plan.run(views, 1 + random() % 3);
    for (const Utterance& each : utterances) {
      Utterance alone = each;
      alone.run_layers(network);
      CHECK(each.new_state == alone.new_state);
      for (std::size_t place = 0; place < each.outputs.size(); ++place) {
        CHECK_NEAR(double(each.outputs[place]), double(alone.outputs[place]), 1e-6);
      }
    }
  }
}

template <class Act>
bool is_refused(const Act& act) {
  try {
    act();
  } catch (const std::invalid_argument&) {
    return true;
  }
  return false;
}

TEST(a_plan_of_steps_that_do_not_fit_together_is_refused) {
  Random random(32);
  const Weights narrow(random, 10, 1), wide(random, 64, 2);
  CHECK(is_refused([] { Plan({}); }));
  CHECK(is_refused([&] { Plan({narrow.dense(0, 20, 0, 1), wide.dense(0, 20, 0, 1)}); }));
  CHECK(is_refused([&] { Plan({narrow.dense(2, 65, 0, 1)}); }));
  CHECK(is_refused([&] { Plan({narrow.dense(1, 64, 0, 1), SoftmaxStep{63}}); }));
  Plan({narrow.dense(1, 64, 0, 1), wide.dense(2, 128, 0, 1), SoftmaxStep{128}});
}

}  // namespace
