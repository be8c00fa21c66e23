// Ways to use all cores that a process may use.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <exception>
#include <mutex>
#include <thread>
#include <utility>
#include <vector>

#include "shared/cores.h"

namespace shared {

// Starts up to `count` threads that run `work`; fewer if the system starts no more.
template <class Work>
std::vector<std::thread> start_threads(std::size_t count, const Work& work) {
  std::vector<std::thread> threads;
  threads.reserve(count);
  try {
    while (threads.size() < count) threads.emplace_back(work, threads.size());
  } catch (const std::exception&) {
    // The caller does the work of the threads that are missing.
  }
  return threads;
}

// The first exception of work that several threads do.
class FirstException {
 public:
  // Runs `work`, and keeps its exception if there was none before.
  template <class Work>
  void keep_of(const Work& work) noexcept {
    try {
      work();
    } catch (...) {
      const std::lock_guard lock(keeping_);
      if (!first_) first_ = std::current_exception();
    }
  }

  // Throws the exception, if there is one, and forgets it. The threads must be done.
  void rethrow() {
    if (first_) std::rethrow_exception(std::exchange(first_, nullptr));
  }

 private:
  std::mutex keeping_;
  std::exception_ptr first_;
};

// Calls work(piece) for each piece from 0 up to, but without, `pieces`, on at most `threads` threads, including the
// calling one, and returns when all are done. If the work throws, throws the first of its exceptions after that.
template <class Work>
void share_out(std::size_t pieces, std::size_t threads, const Work& work) {
  std::atomic<std::size_t> next{0};
  FirstException exception;
  const auto take_pieces = [&](std::size_t) {
    for (std::size_t piece = next++; piece < pieces; piece = next++) exception.keep_of([&] { work(piece); });
  };
  const std::size_t useful = std::max<std::size_t>(1, std::min(threads, pieces));
  std::vector<std::thread> others = start_threads(useful - 1, take_pieces);
  take_pieces(0);
  for (std::thread& other : others) other.join();
  exception.rethrow();
}

}  // namespace shared
