// Softmax.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>

namespace shared {

// Replaces each number by its exponential, divided by the sum of the exponentials.
inline void softmax(float* values, std::size_t size) {
  const float highest = *std::max_element(values, values + size);
  float sum = 0;
  for (std::size_t place = 0; place < size; ++place) {
    sum += values[place] = std::exp(values[place] - highest);
  }
  for (std::size_t place = 0; place < size; ++place) values[place] /= sum;
}

}  // namespace shared
