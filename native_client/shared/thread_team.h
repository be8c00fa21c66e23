// Threads that divide many short pieces of work among themselves.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <thread>
#include <vector>

#include "shared/threads.h"

namespace shared {

// The calling thread and others. A thread takes the pieces of its own share first, so that their data stays in its
// cache, and then pieces that the others have not begun. So a thread without a processor delays the others by at most
// one piece.
class ThreadTeam {
 public:
  // Has `threads` threads, at least one, or fewer if the system starts no more.
  explicit ThreadTeam(std::size_t threads);
  ~ThreadTeam();
  ThreadTeam(const ThreadTeam&) = delete;
  ThreadTeam& operator=(const ThreadTeam&) = delete;

  enum class Order { kForwards, kBackwards };

  // Calls work(piece) for each piece from 0 up to, but without, `pieces`, and returns when all are done. A thread takes
  // the pieces of a share in the given order. If the work throws, throws the first of its exceptions after that; pieces
  // beyond the first 65,535 may then be left out.
  void share_out(std::size_t pieces, const std::function<void(std::size_t)>& work, Order order = Order::kForwards);

 private:
  // The number of a round (32 bits), its next piece (16) and the piece after its last (16). The round goes on at least
  // until a thread that takes one of its pieces has done it.
  struct alignas(64) Share {
    std::atomic<std::uint64_t> state{0};
  };

  void run_round(std::size_t pieces, const std::function<void(std::size_t)>& work, Order order);
  void run_rounds(std::size_t thread);
  void take_pieces(std::size_t thread, std::uint64_t round);
  std::size_t first_of_share(std::size_t thread) const { return pieces_ * thread / shares_.size(); }

  std::vector<Share> shares_;
  std::vector<std::thread> others_;
  const std::function<void(std::size_t)>* work_ = nullptr;
  std::size_t pieces_ = 0;
  Order order_ = Order::kForwards;
  FirstException exception_;
  alignas(64) std::atomic<std::uint64_t> round_{0};
  alignas(64) std::atomic<std::size_t> undone_{0};
};

}  // namespace shared
