// The order in which the frames of several utterances go through a recurrence.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <numeric>
#include <vector>

#include "acoustic/kernels.h"
#include "shared/thread_team.h"

namespace acoustic {

// One frame of one utterance.
struct Frame {
  const float* gates;  // [blocks, 64], the part from the input
  const float* state;  // [16 * blocks], the hidden state of the previous frame
  float* cell;         // [16 * blocks], of the previous frame, becomes that of this frame
  float* hidden;       // [16 * blocks], receives the hidden state of this frame
};

// Each turn has the next frame of all utterances that have frames left.
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
      frames_.push_back({utterances.gates + starts[each] * units_ * 4, utterances.states + each * units_,
                         utterances.cells + each * units_, utterances.hidden + starts[each] * units_});
    }
  }

  std::size_t turns() const { return order_.empty() ? 0 : utterances_.lengths[order_[0]]; }
  const Frame* frames() const { return frames_.data(); }

  // The number of frames in a turn; they are those of the longest utterances.
  std::size_t count(std::size_t turn) const {
    std::size_t count = order_.size();
    while (count && utterances_.lengths[order_[count - 1]] <= turn) --count;
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

constexpr std::size_t kBlocksOfPiece = 4;  // enough that a piece takes longer than its distribution to a thread
constexpr std::size_t kBytesWorthThreads = std::size_t{1} << 20;  // threads wait for each other in every turn

// In each turn, calls prepare(team, frames, count) and then, on at most `threads` threads,
// step(frames, count, first, last) for all blocks from `first` up to, but without, `last`. Every second turn begins
// where the turn before it ended, as the weights of those blocks are still in the cache. If the weights have so few
// `bytes` that a turn takes little time, the calling thread computes it alone.
template <class Prepare, class Step>
void run_in_turns(const Utterances& utterances, std::size_t blocks, std::size_t bytes, std::size_t threads,
                  const Prepare& prepare, const Step& step) {
  using Order = shared::ThreadTeam::Order;
  FramesInTurn in_turn(utterances, blocks);
  if (bytes * utterances.lengths.size() <= kBytesWorthThreads) threads = 1;
  const std::size_t pieces = (blocks + kBlocksOfPiece - 1) / kBlocksOfPiece;
  shared::ThreadTeam team(std::max<std::size_t>(1, std::min(threads, pieces)));
  for (std::size_t turn = 0; turn < in_turn.turns(); ++turn) {
    const std::size_t count = in_turn.count(turn);
    prepare(team, in_turn.frames(), count);
    const auto blocks_of_piece = [&](std::size_t piece) {
      const std::size_t first = piece * kBlocksOfPiece;
      step(in_turn.frames(), count, first, std::min(first + kBlocksOfPiece, blocks));
    };
    team.share_out(pieces, blocks_of_piece, turn % 2 ? Order::kBackwards : Order::kForwards);
    in_turn.advance(count);
  }
  in_turn.keep_last_states();
}

}  // namespace acoustic
