// Stacks frames of a front end into longer ones, as in deepspeech/util/frames/stacking.py: frame k of the network is
// the front end's frames k * skip to k * skip + stacked - 1, one after the other. If the signal ends earlier, its last
// frame replaces the missing ones.
#pragma once

#include <cstddef>
#include <vector>

namespace speech {

class Stacking {
 public:
  Stacking(std::size_t coefficients, std::size_t stacked, std::size_t skip)
      : coefficients_(coefficients), stacked_(stacked), skip_(skip) {}

  // Add to `stacked` the frames that `frames` complete, or the rest at the end.
  void feed(const std::vector<float>& frames, std::vector<float>& stacked);
  void finish(std::vector<float>& stacked);

 private:
  std::size_t coefficients_, stacked_, skip_;
  std::vector<float> held_;
  std::vector<float> last_;  // frame; empty without any
  std::size_t gap_ = 0;      // coming frames between two of the network's, if more are skipped than stacked
};

}  // namespace speech
