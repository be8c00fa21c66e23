// The acoustic model's kernels, for every kind of machine that fits this one, against plain loops.
#include "acoustic/kernels.h"

#include <algorithm>
#include <ctime>
#include <numeric>

#include "fixtures.h"
#include "testing.h"

namespace {

using namespace acoustic;
using fixtures::Random;
using fixtures::random_floats;

using Floats = std::vector<float>;

struct Dense {
  std::size_t frames, rows, blocks;
  Floats weights, bias, inputs;

  static Dense random(Random& random) {
    Dense dense{random() % 15, 1 + random() % 70, 1 + random() % 5, {}, {}, {}};
    dense.fill(random);
    return dense;
  }

  void fill(Random& random) {
    weights = random_floats(random, blocks * rows * kColumns, 1);
    bias = random_floats(random, blocks * kColumns, 1);
    inputs = random_floats(random, frames * rows, 1);
  }

  Floats run(float low, float high, std::size_t threads, Machine machine) const {
    Floats outputs(frames * blocks * kColumns, NAN);
    const DenseLayer layer{weights.data(), bias.data(), blocks, rows};
    acoustic::dense(layer, inputs.data(), frames, low, high, threads, outputs.data(), machine);
    return outputs;
  }

  // The expected value of `column` of `frame` before it is limited.
  double expected(std::size_t frame, std::size_t column) const {
    const std::size_t block = column / kColumns, place = column % kColumns;
    double sum = double(bias[column]);
    for (std::size_t row = 0; row < rows; ++row) {
      sum += double(inputs[frame * rows + row]) * double(weights[(block * rows + row) * kColumns + place]);
    }
    return sum;
  }
};

TEST(a_dense_layer_equals_plain_loops_on_every_machine) {
  Random random(6);
  for (int round = 0; round < 200; ++round) {
    const Dense dense = Dense::random(random);
    const float low = fixtures::uniform(random, -3, 0), high = fixtures::uniform(random, 0, 3);
    const std::size_t columns = dense.blocks * kColumns;
    for (const Machine machine : machines()) {
      const Floats outputs = dense.run(low, high, 1 + random() % 3, machine);
      for (std::size_t place = 0; place < outputs.size(); ++place) {
        const double value = dense.expected(place / columns, place % columns);
        CHECK_NEAR(double(outputs[place]), std::clamp(value, double(low), double(high)), 1e-4);
      }
    }
  }
}

#ifndef SANITIZED  // which makes times meaningless
// The least processor time, in seconds, that `act` takes on the calling thread.
template <class Act>
double least_time(const Act& act) {
  const auto now = [] {
    timespec time{};
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
    return double(time.tv_sec) + 1e-9 * double(time.tv_nsec);
  };
  double least = 1e9;
  for (int round = 0; round < 30; ++round) {
    const double begin = now();
    act();
    least = std::min(least, now() - begin);
  }
  return least;
}

TEST(a_dense_layer_takes_no_longer_than_plain_loops_on_any_machine) {
  Random random(8);
  const std::size_t frames = 12, rows = 256, blocks = 4;
  const Dense dense{frames, rows, blocks, random_floats(random, blocks * rows * kColumns, 1),
                    random_floats(random, blocks * kColumns, 1), random_floats(random, frames * rows, 1)};
  Floats sums(frames * blocks * kColumns);
  const double plain = least_time([&] {
    for (std::size_t block = 0; block < blocks; ++block) {
      for (std::size_t frame = 0; frame < frames; ++frame) {
        float* const to = sums.data() + (frame * blocks + block) * kColumns;
        std::copy_n(dense.bias.data() + block * kColumns, kColumns, to);
        for (std::size_t row = 0; row < rows; ++row) {
          const float input = dense.inputs[frame * rows + row];
          const float* const weights = dense.weights.data() + (block * rows + row) * kColumns;
          for (std::size_t column = 0; column < kColumns; ++column) to[column] += input * weights[column];
        }
      }
    }
  });
  for (const Machine machine : machines()) {
    CHECK(least_time([&] { dense.run(-100, 100, 1, machine); }) < 1.5 * plain);
  }
}
#endif

TEST(threads_and_frames_together_change_nothing_in_a_dense_layer) {
  Random random(7);
  for (int round = 0; round < 50; ++round) {
    const Dense dense = Dense::random(random);
    for (const Machine machine : machines()) {
      const Floats outputs = dense.run(-100, 100, 1, machine);
      CHECK(outputs == dense.run(-100, 100, 7, machine));
      Floats one_by_one;
      for (std::size_t frame = 0; frame < dense.frames; ++frame) {
        Dense one = dense;
        one.frames = 1;
        one.inputs.erase(one.inputs.begin(), one.inputs.begin() + long(frame * dense.rows));
        const Floats output = one.run(-100, 100, 1, machine);
        one_by_one.insert(one_by_one.end(), output.begin(), output.end());
      }
      CHECK(outputs == one_by_one);
    }
  }
}

TEST(threads_change_nothing_in_a_dense_layer_that_is_worth_them) {
  Random random(14);
  Dense dense{257, 220, 5, {}, {}, {}};
  dense.fill(random);
  for (const Machine machine : machines()) CHECK(dense.run(-1, 1, 1, machine) == dense.run(-1, 1, 7, machine));
  CHECK(useful_threads(7, dense.frames, dense.rows, dense.blocks) == dense.blocks);
}

struct Lstm {
  std::size_t units, blocks;
  std::vector<std::int16_t> weights;
  Floats scales;

  static Lstm random(Random& random, std::size_t most_units = 40) {
    const std::size_t units = 1 + random() % most_units, blocks = (units + kLanes - 1) / kLanes;
    Lstm lstm{units, blocks, std::vector<std::int16_t>(blocks * units * kColumns), {}};
    for (std::int16_t& weight : lstm.weights) weight = static_cast<std::int16_t>(random());
    lstm.scales = random_floats(random, blocks * kColumns, 1e-5f);
    return lstm;
  }

  RecurrentLayer layer() const { return {weights.data(), scales.data(), blocks, units}; }

  // A gate (input, candidate, forget or output) of a unit: the parts from the input and from the previous state.
  double gate(std::size_t which, std::size_t unit, const float* inputs, const std::vector<double>& state) const {
    const std::size_t block = unit / kLanes, column = which * kLanes + unit % kLanes;
    double sum = 0;
    for (std::size_t row = 0; row < units; ++row) {
      sum += state[row] * double(weights[(block * units + row) * kColumns + column]);
    }
    return double(inputs[block * kColumns + column]) + sum * double(scales[block * kColumns + column]);
  }
};

// The cell and hidden states of an LSTM, padded to whole blocks, and the hidden states of all frames so far.
struct States {
  Floats cell, state, hidden;

  static States random(Random& random, const Lstm& lstm) {
    const std::size_t size = lstm.blocks * kLanes;
    return {random_floats(random, size, 1), random_floats(random, size, 1), {}};
  }

  void run(const Lstm& lstm, const float* gates, std::size_t frames, Machine machine) {
    const std::size_t before = hidden.size();
    hidden.resize(before + frames * lstm.blocks * kLanes, NAN);
    recurrence(lstm.layer(), {{frames}, gates, cell.data(), state.data(), hidden.data() + before}, 1, machine);
  }
};

double sigmoid(double x) { return 1 / (1 + std::exp(-x)); }

void check_recurrence(const Lstm& lstm, const Floats& gates, States states, std::size_t frames, Machine machine) {
  std::vector<double> cell(states.cell.begin(), states.cell.end()), state(states.state.begin(), states.state.end());
  states.run(lstm, gates.data(), frames, machine);
  for (std::size_t frame = 0; frame < frames; ++frame) {
    const float* const inputs = gates.data() + frame * lstm.blocks * kColumns;
    std::vector<double> next(state.size());
    for (std::size_t unit = 0; unit < lstm.units; ++unit) {
      const auto gate = [&](std::size_t which) { return lstm.gate(which, unit, inputs, state); };
      cell[unit] = sigmoid(gate(2)) * cell[unit] + sigmoid(gate(0)) * std::tanh(gate(1));
      next[unit] = sigmoid(gate(3)) * std::tanh(cell[unit]);
      CHECK_NEAR(double(states.hidden[frame * state.size() + unit]), next[unit], 1e-5);
    }
    state = next;
  }
  for (std::size_t unit = 0; unit < lstm.units; ++unit) {
    CHECK_NEAR(double(states.cell[unit]), cell[unit], 1e-5);
    CHECK_NEAR(double(states.state[unit]), state[unit], 1e-5);
  }
}

TEST(the_recurrence_equals_plain_loops_on_every_machine) {
  Random random(8);
  for (int round = 0; round < 200; ++round) {
    const Lstm lstm = Lstm::random(random);
    const std::size_t frames = random() % 8;
    const Floats gates = random_floats(random, frames * lstm.blocks * kColumns, 3);
    const States states = States::random(random, lstm);
    for (const Machine machine : machines()) check_recurrence(lstm, gates, states, frames, machine);
  }
}

TEST(the_recurrence_goes_on_from_its_own_states) {
  Random random(9);
  for (int round = 0; round < 50; ++round) {
    const Lstm lstm = Lstm::random(random);
    const std::size_t frames = 1 + random() % 8, first = random() % frames, width = lstm.blocks * kColumns;
    const Floats gates = random_floats(random, frames * width, 3);
    for (const Machine machine : machines()) {
      States whole = States::random(random, lstm), pieces = whole;
      whole.run(lstm, gates.data(), frames, machine);
      pieces.run(lstm, gates.data(), first, machine);
      pieces.run(lstm, gates.data() + first * width, frames - first, machine);
      CHECK(whole.hidden == pieces.hidden && whole.cell == pieces.cell && whole.state == pieces.state);
    }
  }
}

TEST(what_an_utterance_becomes_does_not_depend_on_the_others_or_the_threads) {
  Random random(13);
  for (int round = 0; round < 100; ++round) {
    // With many units, several utterances are worth threads.
    const Lstm lstm = Lstm::random(random, round % 10 ? 40 : 200);
    const std::size_t size = lstm.blocks * kLanes, width = lstm.blocks * kColumns;
    std::vector<std::size_t> lengths(random() % 20);
    for (std::size_t& length : lengths) length = random() % 6;
    const std::size_t frames = std::accumulate(lengths.begin(), lengths.end(), std::size_t{0});
    const Floats gates = random_floats(random, frames * width, 3);
    const Floats cells = random_floats(random, lengths.size() * size, 1);
    const Floats states = random_floats(random, lengths.size() * size, 1);
    for (const Machine machine : machines()) {
      States together{cells, states, Floats(frames * size, NAN)};
      recurrence(lstm.layer(), {lengths, gates.data(), together.cell.data(), together.state.data(),
                                together.hidden.data()}, 1 + random() % 3, machine);
      States one_by_one{{}, {}, {}};
      for (std::size_t each = 0, frame = 0; each < lengths.size(); frame += lengths[each++]) {
        const auto row = [&](const Floats& rows) {
          return Floats(rows.begin() + long(each * size), rows.begin() + long((each + 1) * size));
        };
        States alone{row(cells), row(states), {}};
        alone.run(lstm, gates.data() + frame * width, lengths[each], machine);
        one_by_one.cell.insert(one_by_one.cell.end(), alone.cell.begin(), alone.cell.end());
        one_by_one.state.insert(one_by_one.state.end(), alone.state.begin(), alone.state.end());
        one_by_one.hidden.insert(one_by_one.hidden.end(), alone.hidden.begin(), alone.hidden.end());
      }
      CHECK(together.cell == one_by_one.cell && together.state == one_by_one.state);
      CHECK(together.hidden == one_by_one.hidden);
    }
  }
}

TEST(gates_far_from_zero_saturate) {
  Random random(10);
  Lstm lstm = Lstm::random(random);
  std::fill(lstm.weights.begin(), lstm.weights.end(), std::int16_t{0});
  for (const float value : {1e3f, 1e30f, std::numeric_limits<float>::infinity()}) {
    for (const Machine machine : machines()) {
      const std::size_t size = lstm.blocks * kLanes;
      States states{Floats(size, 0.5f), Floats(size, 0), {}};
      states.run(lstm, Floats(lstm.blocks * kColumns, value).data(), 1, machine);
      for (std::size_t unit = 0; unit < size; ++unit) {
        CHECK_NEAR(double(states.cell[unit]), 1.5, 1e-6);
        CHECK_NEAR(double(states.hidden[unit]), std::tanh(1.5), 1e-6);
      }
      states.run(lstm, Floats(lstm.blocks * kColumns, -value).data(), 1, machine);
      for (std::size_t unit = 0; unit < size; ++unit) CHECK_NEAR(double(states.cell[unit]), 0, 1e-6);
    }
  }
}

}  // namespace
