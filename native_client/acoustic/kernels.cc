#include "acoustic/kernels.h"

#include <algorithm>
#include <cstring>
#include <numeric>
#include <type_traits>

#include "acoustic/frame.h"
#include "shared/thread_team.h"
#include "shared/threads.h"

namespace acoustic {
namespace {

#define KERNELS "acoustic/float_kernels.inc"
#include "shared/each_machine.inc"

struct Kernels {
  decltype(&any_machine::dense) dense;
  decltype(&any_machine::recurrent_frames) recurrent_frames;
};

Kernels kernels(Machine machine) {
  switch (machine) {
#ifdef HAS_SEVERAL_MACHINES
    case Machine::kAvx512Bfloat16:
    case Machine::kAvx512: return {avx512::dense, avx512::recurrent_frames};
    case Machine::kAvx2: return {avx2::dense, avx2::recurrent_frames};
#endif
    default: return {any_machine::dense, any_machine::recurrent_frames};
  }
}

// The frames of utterances, side by side: in each turn, the next frame of all that have one left.
class FramesInTurn {
 public:
  FramesInTurn(const Utterances& utterances, std::size_t blocks)
      : utterances_(utterances), units_(blocks * kLanes), order_(utterances.lengths.size()) {
    const std::vector<std::size_t>& lengths = utterances.lengths;
    std::iota(order_.begin(), order_.end(), std::size_t{0});
    std::stable_sort(order_.begin(), order_.end(), [&](auto a, auto b) { return lengths[a] > lengths[b]; });
    std::vector<std::size_t> starts(lengths.size(), 0);
    for (std::size_t each = 1; each < lengths.size(); ++each) starts[each] = starts[each - 1] + lengths[each - 1];
    for (const std::size_t each : order_) {
      float* const state = utterances.states + each * units_;
      frames_.push_back({utterances.gates + starts[each] * blocks * kColumns, state, utterances.cells + each * units_,
                         utterances.hidden + starts[each] * units_});
    }
  }

  std::size_t turns() const { return order_.empty() ? 0 : utterances_.lengths[order_[0]]; }
  const Frame* frames() const { return frames_.data(); }

  // The number of frames in a turn; they are those of the longest utterances.
  std::size_t count(std::size_t turn) const {
    std::size_t count = order_.size();
    while (utterances_.lengths[order_[count - 1]] <= turn) --count;
    return count;
  }

  void advance(std::size_t count) {
    for (std::size_t place = 0; place < count; ++place) {
      Frame& frame = frames_[place];
      frame = {frame.gates + units_ * 4, frame.hidden, frame.cell, frame.hidden + units_};
    }
  }

  // To be called after the last turn.
  void keep_last_states() {
    for (std::size_t place = 0; place < order_.size(); ++place) {
      float* const state = utterances_.states + order_[place] * units_;
      if (frames_[place].state != state) std::memcpy(state, frames_[place].state, units_ * sizeof(float));
    }
  }

 private:
  const Utterances& utterances_;
  const std::size_t units_;
  std::vector<std::size_t> order_;  // of the utterances, the longest one first
  std::vector<Frame> frames_;       // the next frame of each, in that order
};

constexpr std::size_t kBlocksOfPiece = 4;  // enough for a piece of work to outweigh its handing out

}  // namespace

void dense(const DenseLayer& layer, const float* inputs, std::size_t frames, float low, float high,
           std::size_t threads, float* outputs, Machine machine) {
  threads = std::max<std::size_t>(1, std::min(threads, layer.blocks));
  const auto share = [&](std::size_t index) {
    const std::size_t first = layer.blocks * index / threads;
    const std::size_t last = layer.blocks * (index + 1) / threads;
    kernels(machine).dense(layer, inputs, frames, low, high, first, last, outputs);
  };
  shared::share_out(threads, threads, share);
}

void recurrence(const RecurrentLayer& layer, const Utterances& utterances, std::size_t threads, Machine machine) {
  FramesInTurn in_turn(utterances, layer.blocks);
  const std::size_t pieces = (layer.blocks + kBlocksOfPiece - 1) / kBlocksOfPiece;
  shared::ThreadTeam team(std::max<std::size_t>(1, std::min(threads, pieces)));
  for (std::size_t turn = 0; turn < in_turn.turns(); ++turn) {
    const std::size_t count = in_turn.count(turn);
    team.share_out(pieces, [&](std::size_t piece) {
      const std::size_t first = piece * kBlocksOfPiece;
      const std::size_t last = std::min(first + kBlocksOfPiece, layer.blocks);
      kernels(machine).recurrent_frames(layer, in_turn.frames(), count, first, last);
    });
    in_turn.advance(count);
  }
  in_turn.keep_last_states();
}

}  // namespace acoustic
