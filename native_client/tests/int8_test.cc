// The kernels with weights of 8 bits, for every kind of machine that fits this one, against plain loops.
#include "acoustic/int8.h"

#include <algorithm>
#include <numeric>

#include "fixtures.h"
#include "testing.h"

namespace {

using namespace acoustic;
using fixtures::Random;
using fixtures::random_floats;

using Floats = std::vector<float>;

struct Weights {
  std::size_t rows, blocks, filled_rows;
  std::vector<std::int8_t> integers;
  Floats scales;
  std::vector<std::int32_t> sums;

  Weights(Random& random, std::size_t rows, std::size_t blocks)
      : rows(rows), blocks(blocks), filled_rows((rows + kRowsFill - 1) / kRowsFill * kRowsFill),
        integers(blocks * filled_rows * kColumns), scales(random_floats(random, blocks * kColumns, 0.003f)),
        sums(blocks * kColumns) {
    for (std::size_t column = 0; column < blocks * kColumns; ++column) {
      for (std::size_t row = 0; row < rows; ++row) {
        const bool extreme = random() % 4 == 0;  // sums of products of such weights are the largest
        at(row, column) = static_cast<std::int8_t>(extreme ? (random() % 2 ? 127 : -127) : int(random() % 255) - 127);
        sums[column] += at(row, column);
      }
    }
  }

  std::int8_t& at(std::size_t row, std::size_t column) {
    const std::size_t quad = (column / kColumns * filled_rows + row) / kQuad;
    return integers[(quad * kColumns + column % kColumns) * kQuad + row % kQuad];
  }

  Int8Weights view() const { return {integers.data(), scales.data(), sums.data(), blocks, rows}; }
};

// The products of rounded inputs [rows] and a column of the weights.
double product(Weights& weights, const float* inputs, std::size_t column) {
  float largest = 1e-30f;
  for (std::size_t row = 0; row < weights.rows; ++row) largest = std::max(largest, std::abs(inputs[row]));
  const float scale = largest / 127;
  long sum = 0;
  for (std::size_t row = 0; row < weights.rows; ++row) {
    sum += std::lrint(inputs[row] / scale) * weights.at(row, column);
  }
  return double(sum) * double(scale) * double(weights.scales[column]);
}

Floats run_dense(const Weights& weights, const Floats& bias, const Floats& inputs, std::size_t threads,
                 Machine machine) {
  const std::size_t frames = inputs.size() / weights.rows;
  Floats outputs(frames * weights.blocks * kColumns, NAN);
  dense({weights.view(), bias.data()}, inputs.data(), frames, -2, 3, threads, outputs.data(), machine);
  return outputs;
}

TEST(a_dense_layer_of_8_bits_equals_plain_loops_on_every_machine) {
  Random random(20);
  for (int round = 0; round < 60; ++round) {
    Weights weights(random, 1 + random() % 150, 1 + random() % 5);
    const std::size_t frames = random() % 50, columns = weights.blocks * kColumns;
    const Floats bias = random_floats(random, columns, 1);
    Floats inputs = random_floats(random, frames * weights.rows, 1);
    if (frames) std::fill(inputs.begin(), inputs.begin() + long(weights.rows), 0.0f);
    for (const Machine machine : machines()) {
      const Floats outputs = run_dense(weights, bias, inputs, 1 + random() % 3, machine);
      for (std::size_t place = 0; place < outputs.size(); ++place) {
        const float* const input = inputs.data() + place / columns * weights.rows;
        const double value = product(weights, input, place % columns) + double(bias[place % columns]);
        CHECK_NEAR(double(outputs[place]), std::clamp(value, -2.0, 3.0), 1e-4);
      }
    }
  }
}

TEST(integers_are_the_same_on_every_machine_however_many_frames_and_threads_there_are) {
  Random random(21);
  for (int round = 0; round < 30; ++round) {
    const Weights weights(random, 1 + random() % 150, 1 + random() % 3);
    const std::size_t frames = random() % 50;
    const Floats no_bias(weights.blocks * kColumns), inputs = random_floats(random, frames * weights.rows, 9);
    const Floats expected = run_dense(weights, no_bias, inputs, 1, Machine::kAny);
    for (const Machine machine : machines()) {
      CHECK(run_dense(weights, no_bias, inputs, 3, machine) == expected);
      Floats one_by_one;
      for (std::size_t frame = 0; frame < frames; ++frame) {
        const auto start = inputs.begin() + long(frame * weights.rows);
        const Floats one = run_dense(weights, no_bias, Floats(start, start + long(weights.rows)), 1, machine);
        one_by_one.insert(one_by_one.end(), one.begin(), one.end());
      }
      CHECK(one_by_one == expected);
    }
  }
}

double sigmoid(double x) { return 1 / (1 + std::exp(-x)); }

// The cells and hidden states of an utterance, [frames, units], computed with plain loops.
struct Expected {
  std::vector<double> cell;
  Floats hidden;

  Expected(Weights& weights, const float* gates, std::size_t frames, Floats state) : cell(state.size(), 0.25) {
    for (std::size_t frame = 0; frame < frames; ++frame, gates += weights.blocks * kColumns) {
      Floats next(state.size());
      for (std::size_t unit = 0; unit < weights.rows; ++unit) {
        const auto gate = [&](std::size_t which) {
          const std::size_t column = unit / kLanes * kColumns + which * kLanes + unit % kLanes;
          return double(gates[column]) + product(weights, state.data(), column);
        };
        cell[unit] = sigmoid(gate(2)) * cell[unit] + sigmoid(gate(0)) * std::tanh(gate(1));
        next[unit] = float(sigmoid(gate(3)) * std::tanh(cell[unit]));
      }
      hidden.insert(hidden.end(), next.begin(), next.end());
      state = next;
    }
  }
};

TEST(the_recurrence_of_8_bits_equals_plain_loops_on_every_machine) {
  Random random(22);
  for (int round = 0; round < 10; ++round) {
    const std::size_t units = 1 + random() % 80, blocks = (units + kLanes - 1) / kLanes, size = blocks * kLanes;
    Weights weights(random, units, blocks);
    for (float& scale : weights.scales) scale *= 0.1f;
    std::vector<std::size_t> lengths(1 + random() % 40);
    for (std::size_t& length : lengths) length = random() % 3;
    const std::size_t frames = std::accumulate(lengths.begin(), lengths.end(), std::size_t{0});
    const Floats gates = random_floats(random, frames * blocks * kColumns, 3);
    const Floats first = random_floats(random, lengths.size() * size, 1);
    for (const Machine machine : machines()) {
      Floats cells(first.size(), 0.25f), states = first, hidden(frames * size, NAN);
      const Utterances all{lengths, gates.data(), cells.data(), states.data(), hidden.data()};
      recurrence(weights.view(), all, 1 + random() % 3, machine);
      for (std::size_t each = 0, frame = 0; each < lengths.size(); frame += lengths[each++]) {
        const auto start = first.begin() + long(each * size);
        const Expected expected(weights, gates.data() + frame * blocks * kColumns, lengths[each],
                                Floats(start, start + long(size)));
        // An input on the border between two integers may be rounded to either: one part of 127 of one weight.
        for (std::size_t unit = 0; unit < units; ++unit) {
          CHECK_NEAR(double(cells[each * size + unit]), expected.cell[unit], 1e-3);
          for (std::size_t at = 0; at < lengths[each]; ++at) {
            CHECK_NEAR(double(hidden[(frame + at) * size + unit]), double(expected.hidden[at * size + unit]), 1e-3);
          }
        }
      }
    }
  }
}

}  // namespace
