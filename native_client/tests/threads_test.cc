// The use of threads: one for each core of this process, or fewer if the system starts no more.
#include "shared/threads.h"

#include <dlfcn.h>
#include <pthread.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <stdexcept>
#include <thread>

#include "acoustic/kernels.h"
#include "fixtures.h"
#include "shared/thread_team.h"
#include "testing.h"

namespace {

std::atomic<int> started_threads{0};
std::atomic<int> startable_threads{0};
std::atomic<bool> counting{false};

// Counts the threads that are started during its life, and lets only `limit` of them start.
class ThreadLimit {
 public:
  explicit ThreadLimit(int limit) {
    started_threads = 0;
    startable_threads = limit;
    counting = true;
  }
  ~ThreadLimit() { counting = false; }
  ThreadLimit(const ThreadLimit&) = delete;
  ThreadLimit& operator=(const ThreadLimit&) = delete;

  int started() const { return started_threads; }
};

constexpr int kNoLimit = 1 << 20;

}  // namespace

// Replaces the system's own function, so that every thread of the program is started here.
extern "C" int pthread_create(pthread_t* thread, const pthread_attr_t* attributes, void* (*run)(void*),
                              void* argument) {
  static const auto system_function = reinterpret_cast<decltype(&pthread_create)>(dlsym(RTLD_NEXT, "pthread_create"));
  if (counting && started_threads++ >= startable_threads) return EAGAIN;
  return system_function(thread, attributes, run, argument);
}

namespace {

using fixtures::Random;

// Restricts this thread to the core that it runs on, until the object is destroyed.
class OneCore {
 public:
  OneCore() {
    cpu_set_t one;
    CPU_ZERO(&one);
    CPU_SET(static_cast<std::size_t>(sched_getcpu()), &one);
    if (sched_getaffinity(0, sizeof before_, &before_) || sched_setaffinity(0, sizeof one, &one)) {
      throw std::runtime_error("the cores cannot be chosen");
    }
  }
  ~OneCore() { sched_setaffinity(0, sizeof before_, &before_); }
  OneCore(const OneCore&) = delete;
  OneCore& operator=(const OneCore&) = delete;

 private:
  cpu_set_t before_;
};

std::vector<std::vector<ctc::Result>> decode_batch(std::size_t utterances, std::size_t threads) {
  Random random(11);
  const std::vector<float> posteriors = fixtures::random_posteriors(random, 20, 4);
  const ctc::Decoder decoder(ctc::Labels({"x", "y", "z"}), {}, nullptr);
  return decoder.decode_batch(std::vector(utterances, fixtures::view(posteriors, 4)), threads);
}

void check_batch(const std::vector<std::vector<ctc::Result>>& batch, std::size_t utterances) {
  CHECK(batch.size() == utterances);
  for (const auto& results : batch) CHECK(results[0].labels == batch[0][0].labels && !results[0].labels.empty());
}

TEST(a_batch_is_decoded_on_the_cores_that_the_process_may_use) {
  const ThreadLimit all(kNoLimit);
  const std::size_t cores = shared::usable_cores();
  check_batch(decode_batch(cores + 3, 0), cores + 3);
  CHECK(all.started() == static_cast<int>(cores) - 1);
  const OneCore one_core;
  CHECK(shared::usable_cores() == 1);
  const ThreadLimit one(kNoLimit);
  check_batch(decode_batch(cores + 3, 0), cores + 3);
  CHECK(one.started() == 0);
}

TEST(a_batch_is_decoded_by_the_threads_that_start) {
  for (const int limit : {0, 1, 4}) {
    const ThreadLimit threads(limit);
    check_batch(decode_batch(9, 6), 9);
  }
}

TEST(a_stream_is_fed_by_one_thread_and_read_by_another) {
  Random random(13);
  const std::vector<float> posteriors = fixtures::random_posteriors(random, 400, 4);
  const auto decoder = std::make_shared<const ctc::Decoder>(ctc::Labels({"x", "y", "z"}), ctc::DecoderOptions(), nullptr);
  ctc::Stream stream(decoder);
  std::atomic<bool> done{false};
  std::thread reader([&] {
    while (!done) stream.peek(3);
  });
  for (std::size_t frame = 0; frame < 400; ++frame) {
    stream.feed(fixtures::view({posteriors.begin() + long(4 * frame), posteriors.begin() + long(4 * frame + 4)}, 4));
  }
  done = true;
  reader.join();
  CHECK(stream.frames() == 400);
  CHECK(stream.finish()[0].score == decoder->decode(fixtures::view(posteriors, 4))[0].score);
}

TEST(a_dense_layer_is_computed_by_the_threads_that_start) {
  constexpr std::size_t blocks = 7, rows = 5, frames = 3;
  Random random(12);
  std::vector<float> weights(blocks * rows * acoustic::kColumns), bias(blocks * acoustic::kColumns, 0.5f);
  std::vector<float> inputs(frames * rows);
  for (float& weight : weights) weight = fixtures::uniform(random, -1, 1);
  for (float& input : inputs) input = fixtures::uniform(random, -1, 1);
  const auto run = [&](std::size_t threads) {
    std::vector<float> outputs(frames * bias.size(), NAN);
    acoustic::dense({weights.data(), bias.data(), blocks, rows}, inputs.data(), frames, -9, 9, threads, outputs.data());
    return outputs;
  };
  const std::vector<float> expected = run(1);
  for (const int limit : {0, 1, 3}) {
    const ThreadLimit threads(limit);
    CHECK(run(5) == expected);
  }
}

TEST(a_recurrence_is_computed_by_the_threads_that_start) {
  constexpr std::size_t blocks = 20, units = blocks * acoustic::kLanes, frames = 3;
  Random random(13);
  std::vector<std::int16_t> weights(blocks * units * acoustic::kColumns);
  for (std::int16_t& weight : weights) weight = static_cast<std::int16_t>(random());
  const std::vector<float> scales(blocks * acoustic::kColumns, 1e-6f), gates(2 * frames * scales.size(), 0.5f);
  const auto run = [&](std::size_t threads) {
    std::vector<float> cells(2 * units), states(2 * units), hidden(2 * frames * units, NAN);
    const acoustic::Utterances both{{frames, frames}, gates.data(), cells.data(), states.data(), hidden.data()};
    acoustic::recurrence({weights.data(), scales.data(), blocks, units}, both, threads);
    return hidden;
  };
  const std::vector<float> expected = run(1);
  for (const int limit : {0, 1, 3}) {
    const ThreadLimit threads(limit);
    CHECK(run(5) == expected);
  }
}

TEST(a_thread_team_does_every_piece_with_the_threads_that_start) {
  for (const int limit : {0, 1, 3}) {
    const ThreadLimit threads(limit);
    shared::ThreadTeam team(6);
    for (int round = 0; round < 100; ++round) {
      std::vector<std::atomic<int>> done(20);
      const auto order = round % 2 ? shared::ThreadTeam::Order::kBackwards : shared::ThreadTeam::Order::kForwards;
      team.share_out(done.size(), [&](std::size_t piece) { ++done[piece]; }, order);
      for (const auto& times : done) CHECK(times == 1);
    }
  }
}

TEST(a_thread_team_does_more_pieces_than_it_counts_in_a_round) {
  for (const std::size_t pieces : {std::size_t{65'535}, std::size_t{65'536}, std::size_t{200'000}}) {
    shared::ThreadTeam team(3);
    std::vector<std::atomic<int>> done(pieces);
    team.share_out(pieces, [&](std::size_t piece) { ++done[piece]; });
    CHECK(std::all_of(done.begin(), done.end(), [](const auto& times) { return times == 1; }));
  }
}

// A piece that throws on the thread of the test, or on another one, each while the other thread has the other piece.
template <class ShareOut>
void check_exceptions_reach_the_caller(const ShareOut& share_out) {
  for (const bool on_caller : {false, true}) {
    const std::thread::id caller = std::this_thread::get_id();
    std::atomic<int> begun{0}, done{0};
    const auto work = [&](std::size_t) {
      for (++begun; begun < 2;) std::this_thread::yield();
      if ((std::this_thread::get_id() == caller) == on_caller) throw std::runtime_error("no memory is left");
      ++done;
    };
    CHECK_THROWS(share_out(work), "no memory is left");
    CHECK(done == 1);
  }
}

TEST(an_exception_of_any_thread_reaches_the_caller_after_all_pieces) {
  shared::ThreadTeam team(2);
  check_exceptions_reach_the_caller([&](const auto& work) { team.share_out(2, work); });
  check_exceptions_reach_the_caller([](const auto& work) { shared::share_out(2, 2, work); });
  std::atomic<int> done{0};
  team.share_out(20, [&](std::size_t) { ++done; });
  CHECK(done == 20);
}

}  // namespace
