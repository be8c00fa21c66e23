// Numbers in the format of training's kernels, and their distance from plain ones.
#pragma once

#include <cmath>
#include <cstring>
#include <random>
#include <type_traits>
#include <vector>

#include "training/kernels.h"

namespace training {

using Doubles = std::vector<double>;

inline float as_float(float value) { return value; }

inline float as_float(Bfloat16 value) {
  const std::uint32_t word = std::uint32_t{value.bits} << 16;
  float number;
  std::memcpy(&number, &word, sizeof number);
  return number;
}

// Numbers as they are stored, and the same as plain numbers.
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

// The distance of the values from the expected ones, relative to the expected ones.
template <typename Number>
double distance(const Values<Number>& values, const Doubles& expected) {
  double difference = 0, whole = 1e-6;
  for (std::size_t index = 0; index < expected.size(); ++index) {
    difference += std::pow(values[index] - expected[index], 2);
    whole += std::pow(expected[index], 2);
  }
  return std::sqrt(difference / whole);
}

}  // namespace training
