// The kernels of training: those of every kind of machine that this one is do what plain loops do.
#include <atomic>
#include <cmath>
#include <cstring>
#include <random>
#include <vector>

#include "shared/thread_team.h"
#include "testing.h"
#include "training/kernels.h"

namespace {

using namespace training;
using Doubles = std::vector<double>;

float as_float(float value) { return value; }

float as_float(Bfloat16 value) {
  const std::uint32_t word = std::uint32_t{value.bits} << 16;
  float number;
  std::memcpy(&number, &word, sizeof number);
  return number;
}

// Numbers as they are stored, and the same as plain ones.
template <typename Number>
struct Values {
  explicit Values(std::size_t size) : stored(size) {}

  Values(std::size_t size, std::mt19937& random, float scale) : stored(size) {
    std::normal_distribution<float> normal(0, scale);
    for (Number& number : stored) {
      const float value = normal(random);
      std::uint32_t word;
      std::memcpy(&word, &value, sizeof word);
      if constexpr (std::is_same_v<Number, float>) {
        number = value;
      } else {
        number = {static_cast<std::uint16_t>(word >> 16)};
      }
    }
  }

  double operator[](std::size_t index) const { return as_float(stored[index]); }
  const Number* in() const { return stored.data(); }
  Number* out() { return stored.data(); }

  std::vector<Number> stored;
};

double sigmoid(double x) { return 1 / (1 + std::exp(-x)); }

// The recurrence and its gradient as they are written in textbooks, utterance by utterance.
template <typename Number>
struct PlainLstm {
  PlainLstm(Extent extent, std::mt19937& random)
      : extent(extent),
        inputs(extent.time * extent.batch * 4 * extent.units, random, 1),
        weights(4 * extent.units * extent.units, random, 1 / std::sqrt(float(extent.units))),
        bias(4 * extent.units, random, 1),
        cell(extent.batch * extent.units, random, 1),
        hidden(extent.batch * extent.units, random, 0.5),
        output_gradient(extent.time * extent.batch * extent.units, random, 1),
        cell_gradient(extent.batch * extent.units, random, 1),
        hidden_gradient(extent.batch * extent.units, random, 1),
        outputs(extent.time * extent.batch * extent.units),
        gate_gradient(extent.time * extent.batch * 4 * extent.units),
        bias_gradient(4 * extent.units),
        cell_before_gradient(extent.batch * extent.units),
        hidden_before_gradient(extent.batch * extent.units) {
    std::uniform_int_distribution<std::int32_t> length(0, static_cast<std::int32_t>(extent.time));
    for (std::size_t row = 0; row < extent.batch; ++row) lengths.push_back(length(random));
    if (extent.batch > 1) std::sort(lengths.begin(), lengths.end() - 1);  // mostly in order, as batches are
    for (std::size_t row = 0; row < extent.batch; ++row) run(row);
  }

  void run(std::size_t row) {
    const std::size_t units = extent.units, length = static_cast<std::size_t>(lengths[row]);
    std::vector<Doubles> h(length + 1, Doubles(units)), c = h, gates(length, Doubles(4 * units));
    for (std::size_t unit = 0; unit < units; ++unit) {
      h[0][unit] = hidden[row * units + unit];
      c[0][unit] = cell[row * units + unit];
    }
    for (std::size_t at = 0; at < length; ++at) {
      for (std::size_t gate = 0; gate < 4 * units; ++gate) {
        double sum = inputs[(at * extent.batch + row) * 4 * units + gate] + bias[gate];
        for (std::size_t unit = 0; unit < units; ++unit) sum += h[at][unit] * weights[unit * 4 * units + gate];
        gates[at][gate] = gate / units == 1 ? std::tanh(sum) : sigmoid(sum);
      }
      for (std::size_t unit = 0; unit < units; ++unit) {
        const double* const gate = gates[at].data() + unit;
        c[at + 1][unit] = gate[2 * units] * c[at][unit] + gate[0] * gate[units];
        h[at + 1][unit] = gate[3 * units] * std::tanh(c[at + 1][unit]);
        outputs[(at * extent.batch + row) * units + unit] = h[at + 1][unit];
      }
    }
    Doubles dh(units), dc(units);
    for (std::size_t unit = 0; unit < units; ++unit) {
      dh[unit] = hidden_gradient[row * units + unit];
      dc[unit] = cell_gradient[row * units + unit];
    }
    for (std::size_t at = length; at-- > 0;) {
      double* const gradient = gate_gradient.data() + (at * extent.batch + row) * 4 * units;
      for (std::size_t unit = 0; unit < units; ++unit) {
        const double i = gates[at][unit], g = gates[at][units + unit];
        const double f = gates[at][2 * units + unit], o = gates[at][3 * units + unit];
        const double squashed = std::tanh(c[at + 1][unit]);
        dh[unit] += output_gradient[(at * extent.batch + row) * units + unit];
        dc[unit] += dh[unit] * o * (1 - squashed * squashed);
        gradient[unit] = dc[unit] * g * i * (1 - i);
        gradient[units + unit] = dc[unit] * i * (1 - g * g);
        gradient[2 * units + unit] = dc[unit] * c[at][unit] * f * (1 - f);
        gradient[3 * units + unit] = dh[unit] * squashed * o * (1 - o);
        dc[unit] *= f;
      }
      std::fill(dh.begin(), dh.end(), 0);
      for (std::size_t gate = 0; gate < 4 * units; ++gate) {
        bias_gradient[gate] += gradient[gate];
        for (std::size_t unit = 0; unit < units; ++unit) dh[unit] += gradient[gate] * weights[unit * 4 * units + gate];
      }
    }
    for (std::size_t unit = 0; unit < units; ++unit) {
      hidden_before_gradient[row * units + unit] = dh[unit];
      cell_before_gradient[row * units + unit] = dc[unit];
    }
  }

  Extent extent;
  Values<Number> inputs, weights;
  Values<float> bias, cell, hidden;
  Values<Number> output_gradient;
  Values<float> cell_gradient, hidden_gradient;
  std::vector<std::int32_t> lengths;
  Doubles outputs, gate_gradient, bias_gradient, cell_before_gradient, hidden_before_gradient;
};

// The distance of the values from the expected ones, relative to these.
template <typename Number>
double distance(const Values<Number>& values, const Doubles& expected) {
  double difference = 0, whole = 1e-6;
  for (std::size_t index = 0; index < expected.size(); ++index) {
    difference += std::pow(values[index] - expected[index], 2);
    whole += std::pow(expected[index], 2);
  }
  return std::sqrt(difference / whole);
}

template <typename Number>
void check_lstm(Extent extent, Machine machine, std::size_t threads, double tolerance) {
  std::mt19937 random(static_cast<unsigned>(extent.time * 100 + extent.units));
  const PlainLstm<Number> plain(extent, random);
  Values<Number> hidden(plain.outputs.size()), gates = plain.inputs;
  Values<float> cells(plain.outputs.size()), cell_after(plain.cell.stored.size()), hidden_after = cell_after;
  run(LstmForward<Number>{extent, gates.in(), plain.weights.in(), plain.bias.in(), plain.cell.in(), plain.hidden.in(),
                          plain.lengths.data(), hidden.out(), gates.out(), cells.out(), cell_after.out(),
                          hidden_after.out()},
      threads, machine);
  Values<float> bias_gradient(4 * extent.units), cell_gradient = cell_after, hidden_gradient = cell_after;
  run(LstmBackward<Number>{extent, gates.in(), cells.in(), plain.cell.in(), plain.weights.in(), plain.lengths.data(),
                           plain.output_gradient.in(), plain.cell_gradient.in(), plain.hidden_gradient.in(),
                           gates.out(), bias_gradient.out(), cell_gradient.out(), hidden_gradient.out()},
      threads, machine);
  CHECK(distance(hidden, plain.outputs) < tolerance);
  CHECK(distance(gates, plain.gate_gradient) < tolerance);
  CHECK(distance(bias_gradient, plain.bias_gradient) < tolerance);
  CHECK(distance(cell_gradient, plain.cell_before_gradient) < tolerance);
  CHECK(distance(hidden_gradient, plain.hidden_before_gradient) < tolerance);
}

TEST(the_recurrence_is_the_textbooks_on_every_machine) {
  for (const Machine machine : machines()) {
    for (const Extent extent : {Extent{1, 1, 1}, {9, 3, 16}, {7, 5, 64}, {12, 16, 48}, {5, 7, 97}, {3, 70, 33}, {4, 2, 300}}) {
      check_lstm<float>(extent, machine, 1, 1e-5);
      check_lstm<Bfloat16>(extent, machine, 3, 2e-2);
    }
  }
}

TEST(no_frames_and_no_utterances_are_nothing_to_do) {
  for (const Machine machine : machines()) {
    check_lstm<float>({0, 3, 20}, machine, 2, 1e-5);
    check_lstm<float>({4, 0, 20}, machine, 2, 1e-5);
  }
}

TEST(an_activation_is_cut_off_on_both_sides) {
  const std::size_t rows = 130, columns = 37;
  std::mt19937 random(1);
  const Values<float> products(rows * columns, random, 2), bias(columns, random, 1), gradient(rows * columns, random, 1);
  for (const Machine machine : machines()) {
    Values<float> outputs(rows * columns), product_gradient(rows * columns), bias_gradient(columns);
    run(ActivationForward<float>{rows, columns, products.in(), bias.in(), 1.5, 0, 7, outputs.out()}, 2, machine);
    run(ActivationBackward<float>{rows, columns, outputs.in(), gradient.in(), 1.5, 0, product_gradient.out(),
                                  bias_gradient.out()},
        2, machine);
    Doubles expected(rows * columns), expected_gradient(rows * columns), expected_bias(columns);
    for (std::size_t at = 0; at < rows * columns; ++at) {
      const double sum = products[at] + bias[at % columns];
      expected[at] = std::min(std::max(sum, 0.0), 1.5);
      expected_gradient[at] = sum > 0 && sum < 1.5 ? gradient[at] : 0;
      expected_bias[at % columns] += expected_gradient[at];
    }
    CHECK(distance(outputs, expected) < 1e-6);
    CHECK(distance(product_gradient, expected_gradient) < 1e-6);
    CHECK(distance(bias_gradient, expected_bias) < 1e-5);
  }
}

TEST(the_gradient_of_swish_is_its_slope_times_that_of_its_outputs) {
  const std::size_t rows = 130, columns = 37;
  std::mt19937 random(2);
  const Values<float> values(rows * columns, random, 4), gradient(rows * columns, random, 1);
  for (const Machine machine : machines()) {
    Values<float> found = gradient;
    run(SwishBackward<float>{rows, columns, values.in(), found.in(), found.out()}, 2, machine);
    Doubles expected(rows * columns);
    for (std::size_t at = 0; at < rows * columns; ++at) {
      const double value = values[at], share = 1 / (1 + std::exp(-value));
      expected[at] = gradient[at] * share * (1 + value * (1 - share));
    }
    CHECK(distance(found, expected) < 1e-5);
  }
}

TEST(dropout_drops_its_share_and_scales_the_rest) {
  const std::size_t rows = 400, columns = 500;
  const Values<float> bias(columns);
  Values<float> products(rows * columns);
  std::fill(products.stored.begin(), products.stored.end(), 1.0f);
  std::vector<float> first;
  for (const Machine machine : machines()) {
    for (const std::size_t threads : {1, 3}) {
      Values<float> outputs(rows * columns);
      run(ActivationForward<float>{rows, columns, products.in(), bias.in(), 20, 0.25, 99, outputs.out()}, threads, machine);
      if (first.empty()) first = outputs.stored;
      CHECK(outputs.stored == first);
      Values<float> in_place = products;
      run(Dropout<float>{rows, columns, in_place.in(), 0.25, 99, in_place.out()}, threads, machine);
      CHECK(in_place.stored == first);
    }
  }
  std::size_t dropped = 0, pairs = 0;
  for (std::size_t at = 0; at < first.size(); ++at) {
    CHECK(first[at] == 0 || std::abs(first[at] - 1 / 0.75f) < 1e-6f);
    dropped += first[at] == 0;
    pairs += at > 0 && first[at] == 0 && first[at - 1] == 0;
  }
  CHECK(std::abs(dropped / 200000.0 - 0.25) < 0.004);
  CHECK(std::abs(pairs / 200000.0 - 0.0625) < 0.003);
  Values<float> other(rows * columns);
  run(ActivationForward<float>{rows, columns, products.in(), bias.in(), 20, 0.25, 100, other.out()}, 1, machines().back());
  std::size_t both = 0;
  for (std::size_t at = 0; at < first.size(); ++at) both += first[at] == 0 && other.stored[at] == 0;
  CHECK(std::abs(both / 200000.0 - 0.0625) < 0.003);
}

TEST(the_loss_is_the_same_on_every_machine_and_its_gradient_its_slope) {
  const std::size_t time = 12, batch = 3, classes = 19, most_labels = 4;
  std::mt19937 random(5);
  Values<float> logits(time * batch * classes, random, 2);
  const std::vector<std::int32_t> labels = {3, 3, 17, -1, 0, 1, 2, 3, -1, -1, -1, -1}, lengths = {12, 9, 4};
  std::vector<float> first;
  for (const Machine machine : machines()) {
    std::vector<float> losses(batch), gradient(logits.stored.size()), ignored(logits.stored.size());
    const auto loss_of = [&](std::vector<float>& to_gradient) {
      run(Ctc{time, batch, classes, most_labels, logits.in(), labels.data(), lengths.data(), losses.data(),
              to_gradient.data()},
          2, machine);
      return double(losses[0]) + losses[1] + losses[2];
    };
    loss_of(gradient);
    if (first.empty()) first = losses;
    for (std::size_t row = 0; row < batch; ++row) CHECK_NEAR(losses[row], first[row], 1e-4f);
    for (std::size_t at = 0; at < gradient.size(); at += 7) {
      const float kept = logits.stored[at];
      logits.stored[at] = kept + 0.01f;
      const double above = loss_of(ignored);
      logits.stored[at] = kept - 0.01f;
      const double below = loss_of(ignored);
      logits.stored[at] = kept;
      CHECK_NEAR(gradient[at], static_cast<float>((above - below) / 0.02), 2e-3f);
    }
  }
}

TEST(a_thread_team_does_every_piece_once_whatever_its_size) {
  for (const std::size_t threads : {1, 2, 7}) {
    shared::ThreadTeam team(threads);
    for (const std::size_t pieces : {0, 1, 2, 5, 64}) {
      for (int round = 0; round < 200; ++round) {
        std::vector<std::atomic<int>> done(pieces);
        team.share_out(pieces, [&](std::size_t piece) { ++done[piece]; });
        for (const auto& times : done) CHECK(times == 1);
      }
    }
  }
}

}  // namespace
