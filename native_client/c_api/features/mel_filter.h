// Triangular filters on the mel scale.
#pragma once

#include <cmath>
#include <cstddef>
#include <vector>

namespace speech {

// A frequency in Hz on the mel scale.
inline double mel(double frequency) { return 1127 * std::log1p(frequency / 700); }

// The weights of neighbouring bins of a spectrum.
struct MelFilter {
  // The weighted sum of the bins.
  double operator()(const std::vector<double>& spectrum) const {
    double sum = 0;
    for (std::size_t place = 0; place < weights.size(); ++place) sum += spectrum[first + place] * weights[place];
    return sum;
  }

  std::size_t first = 0;  // bin
  std::vector<double> weights;
};

}  // namespace speech
