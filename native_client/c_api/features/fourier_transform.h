// The Fourier transform of a power of two of numbers.
#pragma once

#include <cstddef>
#include <vector>

namespace speech {

class FourierTransform {
 public:
  explicit FourierTransform(std::size_t size);

  // Replaces the numbers real + i imaginary, [size], by their transform.
  void run(std::vector<double>& real, std::vector<double>& imaginary) const;

 private:
  std::vector<std::size_t> order_;       // the place of each number before the first step
  std::vector<double> cosines_, sines_;  // [size / 2]
};

// The smallest power of two that is at least `least`.
std::size_t next_power_of_two(std::size_t least);

constexpr double kPi = 3.14159265358979323846;

}  // namespace speech
