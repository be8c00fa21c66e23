#include "shared/thread_team.h"

#include <algorithm>

namespace shared {
namespace {

constexpr std::uint64_t kOver = ~std::uint64_t{0};
constexpr std::size_t kMostPieces = 0xffff;  // of a round, as the state of a share has 16 bits for their number
constexpr int kBusyTurns = 4000;  // some tens of microseconds

void pause() {
#if defined(__x86_64__) && defined(__GNUC__)
  __builtin_ia32_pause();
#endif
}

// Busy-waits for a while, as the condition mostly comes true within microseconds; then yields to other threads.
template <typename Condition>
void wait_until(const Condition& condition) {
  for (int turn = 0; !condition(); ++turn) {
    if (turn < kBusyTurns) {
      pause();
    } else {
      std::this_thread::yield();
    }
  }
}

}  // namespace

ThreadTeam::ThreadTeam(std::size_t threads) : shares_(threads) {
  // If a thread is missing, the others do its share.
  others_ = start_threads(threads - 1, [this](std::size_t index) { run_rounds(index + 1); });
}

ThreadTeam::~ThreadTeam() {
  round_.store(kOver, std::memory_order_release);
  for (std::thread& other : others_) other.join();
}

void ThreadTeam::share_out(std::size_t pieces, const std::function<void(std::size_t)>& work, Order order) {
  if (pieces <= kMostPieces) return run_round(pieces, work, order);
  for (std::size_t begin = 0; begin < pieces; begin += kMostPieces) {
    const auto later = [&work, begin](std::size_t piece) { work(begin + piece); };
    run_round(std::min(kMostPieces, pieces - begin), later, order);
  }
}

void ThreadTeam::run_round(std::size_t pieces, const std::function<void(std::size_t)>& work, Order order) {
  const std::uint64_t round = (round_.load(std::memory_order_relaxed) + 1) & 0xffffffff;
  work_ = &work;
  pieces_ = pieces;
  order_ = order;
  undone_.store(pieces, std::memory_order_relaxed);
  for (std::size_t thread = 0; thread < shares_.size(); ++thread) {
    const std::uint64_t first = first_of_share(thread), end = first_of_share(thread + 1);
    shares_[thread].state.store(round << 32 | first << 16 | end, std::memory_order_release);
  }
  round_.store(round, std::memory_order_release);
  take_pieces(0, round);
  wait_until([this] { return undone_.load(std::memory_order_acquire) == 0; });
  exception_.rethrow();
}

void ThreadTeam::run_rounds(std::size_t thread) {
  for (std::uint64_t seen = 0;;) {
    wait_until([&] { return round_.load(std::memory_order_acquire) != seen; });
    seen = round_.load(std::memory_order_acquire);
    if (seen == kOver) return;
    take_pieces(thread, seen);
  }
}

void ThreadTeam::take_pieces(std::size_t thread, std::uint64_t round) {
  for (std::size_t turn = 0; turn < shares_.size(); ++turn) {
    const std::size_t share = (thread + turn) % shares_.size();
    std::atomic<std::uint64_t>& state = shares_[share].state;
    std::uint64_t seen = state.load(std::memory_order_acquire);
    for (;;) {
      const std::uint64_t piece = seen >> 16 & 0xffff;
      if (seen >> 32 != round || piece == (seen & 0xffff)) break;
      if (!state.compare_exchange_weak(seen, seen + (1 << 16), std::memory_order_acq_rel)) continue;
      const bool is_forwards = order_ == Order::kForwards;
      exception_.keep_of([&] {
        (*work_)(is_forwards ? piece : first_of_share(share) + first_of_share(share + 1) - 1 - piece);
      });
      undone_.fetch_sub(1, std::memory_order_acq_rel);
      seen = state.load(std::memory_order_acquire);
    }
  }
}

}  // namespace shared
