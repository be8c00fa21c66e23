// The kernels of training that work row by row, for every kind of machine that fits this one, against plain loops.
#include <cmath>
#include <random>
#include <vector>

#include "tests/testing.h"
#include "tests/training/values.h"
#include "training/kernels.h"

namespace {

using namespace training;

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

TEST(layer_normalization_and_its_gradients_are_the_textbooks) {
  const std::size_t rows = 130;
  for (const std::size_t columns : {1, 5, 16, 37, 192}) {
    std::mt19937 random(3);
    const Values<float> values(rows * columns, random, 4), scale(columns, random, 1), offset(columns, random, 1);
    const Values<float> gradient(rows * columns, random, 1);
    Doubles outputs(rows * columns), by_values(rows * columns), by_scale(columns), by_offset(columns);
    const double epsilon = 1e-3;
    for (std::size_t row = 0; row < rows; ++row) {
      const std::size_t begin = row * columns;
      const auto mean = [&](const auto& of) {
        double sum = 0;
        for (std::size_t column = 0; column < columns; ++column) sum += of(column);
        return sum / static_cast<double>(columns);
      };
      const double middle = mean([&](std::size_t column) { return values[begin + column]; });
      const double variance = mean([&](std::size_t column) { return std::pow(values[begin + column] - middle, 2); });
      const double deviation = std::sqrt(variance + epsilon);
      const auto z = [&](std::size_t column) { return (values[begin + column] - middle) / deviation; };
      const auto dz = [&](std::size_t column) { return gradient[begin + column] * scale[column]; };
      const double along = mean([&](std::size_t column) { return dz(column) * z(column); });
      for (std::size_t column = 0; column < columns; ++column) {
        outputs[begin + column] = z(column) * scale[column] + offset[column];
        by_values[begin + column] = (dz(column) - mean(dz) - z(column) * along) / deviation;
        by_scale[column] += gradient[begin + column] * z(column);
        by_offset[column] += gradient[begin + column];
      }
    }
    for (const Machine machine : machines()) {
      Values<float> found = values, value_gradient = gradient, scale_gradient(columns), offset_gradient(columns);
      run(NormalizationForward<float>{rows, columns, found.in(), scale.in(), offset.in(), 1e-3f, found.out()}, 2, machine);
      run(NormalizationBackward<float>{rows, columns, values.in(), scale.in(), value_gradient.in(), 1e-3f,
                                       value_gradient.out(), scale_gradient.out(), offset_gradient.out()},
          2, machine);
      CHECK(distance(found, outputs) < 1e-5);
      CHECK(columns == 1 || distance(value_gradient, by_values) < 1e-5);
      CHECK(columns == 1 || distance(scale_gradient, by_scale) < 1e-5);
      CHECK(distance(offset_gradient, by_offset) < 1e-5);
    }
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

TEST(joined_arrays_are_the_numbers_of_all_and_half_the_sum_of_their_squares) {
  std::mt19937 random(4);
  const Values<Bfloat16> first(100003, random, 2);
  const Values<float> second(37, random, 1), third(70000, random, 3), empty(0);
  Values<float> expected(0);
  double squares = 0;
  const auto expect = [&](const auto& values) {
    for (std::size_t at = 0; at < values.stored.size(); ++at) {
      expected.stored.push_back(static_cast<float>(values[at]));
      squares += values[at] * values[at];
    }
  };
  expect(first);
  expect(second);
  expect(third);
  const std::vector<JoinedPart> parts = {{first.in(), true, first.stored.size()},
                                         {second.in(), false, second.stored.size()},
                                         {empty.in(), false, 0},
                                         {third.in(), false, third.stored.size()}};
  for (const Machine machine : machines()) {
    std::vector<float> with_one_thread;
    for (const std::size_t threads : {1, 3}) {
      Values<float> joined(expected.stored.size()), half_square(1);
      run(Join{parts, joined.out(), half_square.out()}, threads, machine);
      CHECK(joined.stored == expected.stored);
      CHECK(std::abs(half_square[0] / (squares / 2) - 1) < 1e-5);
      if (threads == 1) with_one_thread = half_square.stored;
      CHECK(half_square.stored == with_one_thread);
    }
  }
}

}  // namespace
