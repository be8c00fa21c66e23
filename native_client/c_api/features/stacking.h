// Frames of a front end put together into longer ones, as in deepspeech/util/frames/stacking.py: frame k of the network
// is the front end's frames k * skip to k * skip + stacked - 1, one after the other. Where the signal ends before, its
// last frame stands for those that are missing.
#pragma once

#include <cstddef>
#include <vector>

namespace speech {

class Stacking {
 public:
  Stacking(std::size_t coefficients, std::size_t stacked, std::size_t skip)
      : coefficients_(coefficients), stacked_(stacked), skip_(skip) {}

  // Add to `stacked` what is complete now that `frames` are there, or what is left after them.
  void feed(const std::vector<float>& frames, std::vector<float>& stacked);
  void finish(std::vector<float>& stacked);

 private:
  std::size_t coefficients_, stacked_, skip_;
  std::vector<float> held_;
  std::vector<float> last_;  // frame; empty without any
  std::size_t gap_ = 0;      // frames to come that lie between two of the network's, if more are skipped than stacked
};

}  // namespace speech
