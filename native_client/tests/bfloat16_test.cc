// The kernels with weights of bfloat16, for every kind of machine that fits this one, against plain loops.
#include "acoustic/bfloat16.h"

#include <algorithm>
#include <cstring>
#include <numeric>

#include "fixtures.h"
#include "testing.h"

namespace {

using namespace acoustic;
using fixtures::Random;
using fixtures::random_floats;

using Floats = std::vector<float>;

// The nearest number whose lower half of bits is zero.
float rounded(float value) {
  std::uint32_t bits;
  std::memcpy(&bits, &value, sizeof bits);
  bits = (bits + 0x7fff + ((bits >> 16) & 1)) & 0xffff0000;
  std::memcpy(&value, &bits, sizeof value);
  return value;
}

struct Weights {
  std::size_t rows, blocks, filled_rows;
  std::vector<std::uint16_t> halves;

  Weights(Random& random, std::size_t rows, std::size_t blocks)
      : rows(rows), blocks(blocks),
        filled_rows((rows + Bfloat16Weights::kRowsFill - 1) / Bfloat16Weights::kRowsFill * Bfloat16Weights::kRowsFill),
        halves(blocks * filled_rows * kColumns) {
    for (std::size_t column = 0; column < blocks * kColumns; ++column) {
      for (std::size_t row = 0; row < rows; ++row) {
        const float value = rounded(random_floats(random, 1, 0.5f)[0]);
        std::uint32_t bits;
        std::memcpy(&bits, &value, sizeof bits);
        halves[place(row, column)] = static_cast<std::uint16_t>(bits >> 16);
      }
    }
  }

  std::size_t place(std::size_t row, std::size_t column) const {
    const std::size_t pair = (column / kColumns * filled_rows + row) / Bfloat16Weights::kPair;
    return (pair * kColumns + column % kColumns) * Bfloat16Weights::kPair + row % Bfloat16Weights::kPair;
  }

  float at(std::size_t row, std::size_t column) const {
    const std::uint32_t bits = std::uint32_t(halves[place(row, column)]) << 16;
    float value;
    std::memcpy(&value, &bits, sizeof value);
    return value;
  }

  // The products of rounded inputs [rows] and a column.
  double product(const float* inputs, std::size_t column) const {
    double sum = 0;
    for (std::size_t row = 0; row < rows; ++row) sum += double(rounded(inputs[row])) * double(at(row, column));
    return sum;
  }

  Bfloat16Weights view() const { return {halves.data(), blocks, rows}; }
};

TEST(a_dense_layer_of_bfloat16_equals_plain_loops_on_every_machine) {
  Random random(30);
  for (int round = 0; round < 40; ++round) {
    const Weights weights(random, 1 + random() % 150, 1 + random() % 4);
    const std::size_t frames = random() % 50, columns = weights.blocks * kColumns;
    const Floats bias = random_floats(random, columns, 1), inputs = random_floats(random, frames * weights.rows, 1);
    for (const Machine machine : machines()) {
      Floats outputs(frames * columns, NAN);
      dense({weights.view(), bias.data()}, inputs.data(), frames, -2, 3, 1 + random() % 3, outputs.data(), machine);
      for (std::size_t place = 0; place < outputs.size(); ++place) {
        const float* const input = inputs.data() + place / columns * weights.rows;
        const double value = weights.product(input, place % columns) + double(bias[place % columns]);
        CHECK_NEAR(double(outputs[place]), std::clamp(value, -2.0, 3.0), 1e-4);
      }
    }
  }
}

struct Run {
  Floats cells, states, hidden;

  Run(const Weights& weights, const std::vector<std::size_t>& lengths, const Floats& gates, const Floats& first,
      std::size_t threads, Machine machine)
      : cells(first.size(), 0.25f), states(first), hidden(gates.size() / 4, NAN) {
    const Utterances all{lengths, gates.data(), cells.data(), states.data(), hidden.data()};
    recurrence(weights.view(), all, threads, machine);
  }
};

TEST(an_utterance_is_the_same_beside_others_and_near_that_of_the_plain_machine) {
  Random random(31);
  for (int round = 0; round < 10; ++round) {
    const std::size_t units = 1 + random() % 80, blocks = (units + kLanes - 1) / kLanes, size = blocks * kLanes;
    const Weights weights(random, units, blocks);
    std::vector<std::size_t> lengths(1 + random() % 40);
    for (std::size_t& length : lengths) length = random() % 4;
    const std::size_t frames = std::accumulate(lengths.begin(), lengths.end(), std::size_t{0});
    const Floats gates = random_floats(random, frames * blocks * kColumns, 3);
    const Floats first = random_floats(random, lengths.size() * size, 1);
    const Run plain(weights, lengths, gates, first, 1, Machine::kAny);
    for (const Machine machine : machines()) {
      const Run together(weights, lengths, gates, first, 1 + random() % 3, machine);
      for (std::size_t each = 0, frame = 0; each < lengths.size(); frame += lengths[each++]) {
        const auto start = first.begin() + long(each * size);
        const auto from = gates.begin() + long(frame * blocks * kColumns);
        const Run alone(weights, {lengths[each]}, Floats(from, from + long(lengths[each] * blocks * kColumns)),
                        Floats(start, start + long(size)), 1, machine);
        CHECK(std::equal(alone.cells.begin(), alone.cells.end(), together.cells.begin() + long(each * size)));
        for (std::size_t unit = 0; unit < size; ++unit) {
          // A state on the border between two numbers of bfloat16 may be rounded to either.
          CHECK_NEAR(double(alone.cells[unit]), double(plain.cells[each * size + unit]), 1e-2);
        }
      }
    }
  }
}

TEST(the_first_frame_of_a_recurrence_equals_plain_loops) {
  Random random(32);
  const std::size_t units = 70, blocks = 5, size = blocks * kLanes;
  const Weights weights(random, units, blocks);
  const Floats gates = random_floats(random, blocks * kColumns, 3), first = random_floats(random, size, 1);
  const auto sigmoid = [](double x) { return 1 / (1 + std::exp(-x)); };
  for (const Machine machine : machines()) {
    const Run run(weights, {1}, gates, first, 2, machine);
    for (std::size_t unit = 0; unit < units; ++unit) {
      const auto gate = [&](std::size_t which) {
        const std::size_t column = unit / kLanes * kColumns + which * kLanes + unit % kLanes;
        return double(gates[column]) + weights.product(first.data(), column);
      };
      const double cell = sigmoid(gate(2)) * 0.25 + sigmoid(gate(0)) * std::tanh(gate(1));
      CHECK_NEAR(double(run.cells[unit]), cell, 1e-4);
      CHECK_NEAR(double(run.hidden[unit]), sigmoid(gate(3)) * std::tanh(cell), 1e-4);
    }
  }
}

}  // namespace
