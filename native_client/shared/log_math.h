// Arithmetic on natural logarithms of probabilities.
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>

namespace ctc {

constexpr float kLogZero = -std::numeric_limits<float>::infinity();

// KenLM's scores are logarithms to base 10.
constexpr float kLn10 = 2.302585093f;

// ln(e^a + e^b)
inline float log_add(float a, float b) {
  const float high = std::max(a, b);
  const float low = std::min(a, b);
  // Beyond this distance the sum rounds to the larger one. The negation also covers two zeros, whose distance is NaN.
  constexpr float kNegligible = 17.0f;
  if (!(high - low < kNegligible)) return high;
  return high + std::log1p(std::exp(low - high));
}

}  // namespace ctc
