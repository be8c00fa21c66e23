// The Fourier transform of numbers of which there is a power of two.
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
  std::vector<std::size_t> order_;       // where each number is put before the first step
  std::vector<double> cosines_, sines_;  // [size / 2]
};

// The smallest power of two that is not less.
std::size_t next_power_of_two(std::size_t least);

constexpr double kPi = 3.14159265358979323846;

}  // namespace speech
