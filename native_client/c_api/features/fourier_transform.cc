#include "c_api/features/fourier_transform.h"

#include <cmath>
#include <utility>

namespace speech {

FourierTransform::FourierTransform(std::size_t size) : order_(size), cosines_(size / 2), sines_(size / 2) {
  for (std::size_t place = 1; place < size; ++place) order_[place] = order_[place / 2] / 2 + (place % 2 ? size / 2 : 0);
  for (std::size_t turn = 0; turn < size / 2; ++turn) {
    const double angle = -2 * kPi * static_cast<double>(turn) / static_cast<double>(size);
    cosines_[turn] = std::cos(angle);
    sines_[turn] = std::sin(angle);
  }
}

// Cooley and Tukey, 1965, with radix 2.
void FourierTransform::run(std::vector<double>& real, std::vector<double>& imaginary) const {
  const std::size_t size = order_.size();
  for (std::size_t place = 0; place < size; ++place) {
    if (place < order_[place]) {
      std::swap(real[place], real[order_[place]]);
      std::swap(imaginary[place], imaginary[order_[place]]);
    }
  }
  for (std::size_t half = 1; half < size; half *= 2) {
    const std::size_t stride = size / (2 * half);
    for (std::size_t begin = 0; begin < size; begin += 2 * half) {
      for (std::size_t turn = 0; turn < half; ++turn) {
        const double cosine = cosines_[turn * stride], sine = sines_[turn * stride];
        const std::size_t upper = begin + turn, lower = upper + half;
        const double re = real[lower] * cosine - imaginary[lower] * sine;
        const double im = real[lower] * sine + imaginary[lower] * cosine;
        real[lower] = real[upper] - re;
        imaginary[lower] = imaginary[upper] - im;
        real[upper] += re;
        imaginary[upper] += im;
      }
    }
  }
}

std::size_t next_power_of_two(std::size_t least) {
  std::size_t power = 1;
  while (power < least) power *= 2;
  return power;
}

}  // namespace speech
