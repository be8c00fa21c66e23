// Threads that share out many short pieces of work.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <thread>
#include <vector>

namespace shared {

// The calling thread and others. A thread takes the pieces of its own share first, so that what these need stays in its
// cache, and then what the others have not begun: a thread without a processor delays the others by one piece at most.
class ThreadTeam {
 public:
  // Consists of `threads` threads, at least one; of fewer if the system gives no more.
  explicit ThreadTeam(std::size_t threads);
  ~ThreadTeam();
  ThreadTeam(const ThreadTeam&) = delete;
  ThreadTeam& operator=(const ThreadTeam&) = delete;

  enum class Order { kForwards, kBackwards };

  // Calls work(piece) for each piece from 0 up to, but without, `pieces` (fewer than 65,536), and returns when all are
  // done. A thread takes those of a share in the given order. The work must not throw.
  void share_out(std::size_t pieces, const std::function<void(std::size_t)>& work, Order order = Order::kForwards);

 private:
  // A round's number (32 bits), the next piece (16) and the one after the last (16): a thread that takes a piece of a
  // round knows that the round goes on until that piece is done.
  struct alignas(64) Share {
    std::atomic<std::uint64_t> state{0};
  };

  void run_rounds(std::size_t thread);
  void take_pieces(std::size_t thread, std::uint64_t round);
  std::size_t first_of_share(std::size_t thread) const { return pieces_ * thread / shares_.size(); }

  std::vector<Share> shares_;
  std::vector<std::thread> others_;
  const std::function<void(std::size_t)>* work_ = nullptr;
  std::size_t pieces_ = 0;
  Order order_ = Order::kForwards;
  alignas(64) std::atomic<std::uint64_t> round_{0};
  alignas(64) std::atomic<std::size_t> undone_{0};
};

}  // namespace shared
