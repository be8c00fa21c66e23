// The recurrence and the loss of training, for every kind of machine that fits this one, against plain loops.
#include <atomic>
#include <cmath>
#include <random>
#include <vector>

#include "shared/thread_team.h"
#include "tests/testing.h"
#include "tests/training/values.h"
#include "training/kernels.h"

namespace {

using namespace training;

double sigmoid(double x) { return 1 / (1 + std::exp(-x)); }

// The recurrence and its gradient as in textbooks, utterance by utterance.
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
    if (extent.batch > 1) std::sort(lengths.begin(), lengths.end() - 1);  // mostly in order, like batches
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
