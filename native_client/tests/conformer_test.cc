// The kernels of conformer blocks, for every kind of machine that fits this one, against plain loops.
#include "acoustic/layers/conformer.h"

#include <algorithm>
#include <cmath>

#include "acoustic/layers/attention.h"
#include "fixtures.h"
#include "testing.h"

namespace {

using namespace acoustic;
using fixtures::Random;
using fixtures::random_floats;

using Floats = std::vector<float>;

double sigmoid(double x) { return 1 / (1 + std::exp(-x)); }

void check_near(const Floats& found, const std::vector<double>& expected) {
  CHECK(found.size() == expected.size());
  for (std::size_t place = 0; place < found.size(); ++place) CHECK_NEAR(double(found[place]), expected[place], 1e-4);
}

// Rows of a random number and width, some with room between them.
struct SomeRows {
  Rows rows;
  Floats values;

  explicit SomeRows(Random& random, std::size_t parts = 1)
      : rows{random() % 5, 1 + random() % 70, 0} {
    rows.stride = parts * rows.width + random() % 9;
    values = random_floats(random, rows.count * rows.stride, 4);
  }

  double at(std::size_t row, std::size_t place) const { return double(values[row * rows.stride + place]); }

  // The results of value(row, place) for all numbers.
  template <class Value>
  std::vector<double> each(const Value& value) const {
    std::vector<double> result;
    for (std::size_t row = 0; row < rows.count; ++row) {
      for (std::size_t place = 0; place < rows.width; ++place) result.push_back(value(row, place));
    }
    return result;
  }
};

TEST(rows_are_normalized_as_by_plain_loops_on_every_machine) {
  Random random(41);
  for (int round = 0; round < 100; ++round) {
    const std::size_t rows = random() % 5, width = 1 + random() % 70;
    const Floats values = random_floats(random, rows * width, 4), scale = random_floats(random, width, 2),
                 offset = random_floats(random, width, 2);
    std::vector<double> expected;
    for (std::size_t row = 0; row < rows; ++row) {
      const float* const of_row = values.data() + row * width;
      double mean = 0, variance = 0;
      for (std::size_t place = 0; place < width; ++place) mean += double(of_row[place]) / double(width);
      for (std::size_t place = 0; place < width; ++place) {
        variance += std::pow(double(of_row[place]) - mean, 2) / double(width);
      }
      for (std::size_t place = 0; place < width; ++place) {
        expected.push_back((double(of_row[place]) - mean) / std::sqrt(variance + 1e-5) * double(scale[place]) +
                           double(offset[place]));
      }
    }
    for (const Machine machine : machines()) {
      Floats found = values;
      normalize({scale.data(), offset.data(), width}, found.data(), rows, found.data(), machine);
      check_near(found, expected);
    }
  }
}

TEST(swish_gates_and_sums_equal_plain_loops_on_every_machine) {
  Random random(42);
  for (int round = 0; round < 100; ++round) {
    const SomeRows one(random), two(random, 2);
    const auto swished = one.each([&](auto row, auto place) { return one.at(row, place) * sigmoid(one.at(row, place)); });
    const auto gated = two.each(
        [&](auto row, auto place) { return two.at(row, place) * sigmoid(two.at(row, two.rows.width + place)); });
    const auto halves = one.each([&](auto row, auto place) { return 1 + one.at(row, place) / 2; });
    for (const Machine machine : machines()) {
      Floats found = one.values;
      swish(found.data(), one.rows, machine);
      found.resize(swished.size());
      check_near(found, swished);
      found.assign(gated.size(), NAN);
      gate(two.values.data(), two.rows, found.data(), machine);
      check_near(found, gated);
      found.assign(halves.size(), 1);
      add(one.values.data(), one.rows, 0.5f, found.data(), machine);
      check_near(found, halves);
    }
  }
}

TEST(a_depthwise_convolution_equals_plain_loops_on_every_machine) {
  Random random(43);
  for (int round = 0; round < 100; ++round) {
    const std::size_t rows = random() % 5, width = 1 + random() % 70, taps = 1 + random() % 6;
    const Floats inputs = random_floats(random, (rows + taps - 1) * width, 1),
                 kernel = random_floats(random, taps * width, 1), bias = random_floats(random, width, 1);
    std::vector<double> expected;
    for (std::size_t place = 0; place < rows * width; ++place) {
      expected.push_back(double(bias[place % width]));
      for (std::size_t tap = 0; tap < taps; ++tap) {
        expected.back() += double(inputs[place + tap * width]) * double(kernel[tap * width + place % width]);
      }
    }
    for (const Machine machine : machines()) {
      Floats found(rows * width, NAN);
      convolve({kernel.data(), bias.data(), taps, width}, inputs.data(), rows, found.data(), machine);
      check_near(found, expected);
    }
  }
}

// The means that attention returns for a query.
std::vector<double> means_of(const Head& head, const float* query) {
  std::vector<double> means(head.size), weights(head.rows);
  double sum = 0;
  for (std::size_t row = 0; row < head.rows; ++row) {
    for (std::size_t place = 0; place < head.size; ++place) {
      weights[row] += double(query[place]) * double(head.keys[row * head.stride + place]);
    }
    sum += weights[row] = std::exp(weights[row] / std::sqrt(double(head.size)));
  }
  for (std::size_t row = 0; row < head.rows; ++row) {
    for (std::size_t place = 0; place < head.size; ++place) {
      means[place] += weights[row] / sum * double(head.values[row * head.stride + place]);
    }
  }
  return means;
}

TEST(attention_equals_plain_loops_on_every_machine) {
  Random random(44);
  for (int round = 0; round < 60; ++round) {
    const std::size_t rows = 1 + random() % 40, count = random() % 40, size = 1 + random() % 40, width = size + 7;
    const Floats keys = random_floats(random, rows * width, 3), values = random_floats(random, rows * width, 1),
                 queries = random_floats(random, count * width, 3);
    const Head head{keys.data(), values.data(), rows, size, width};
    for (const Machine machine : machines()) {
      Floats means(count * width, NAN);
      attend(head, queries.data(), count, means.data(), machine);
      for (std::size_t query = 0; query < count; ++query) {
        const auto begin = means.begin() + long(query * width);
        check_near({begin, begin + long(size)}, means_of(head, queries.data() + query * width));
        for (std::size_t place = size; place < width; ++place) CHECK(std::isnan(begin[long(place)]));
      }
    }
  }
}

TEST(attention_to_keys_far_apart_chooses_the_nearest) {
  const Floats keys{0, 500, -500}, values{1, 2, 3}, query{10};
  for (const Machine machine : machines()) {
    float mean = NAN;
    attend({keys.data(), values.data(), 3, 1, 1}, query.data(), 1, &mean, machine);
    CHECK_NEAR(double(mean), 2.0, 1e-6);
  }
}

}  // namespace
