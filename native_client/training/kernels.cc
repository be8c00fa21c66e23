#include "training/kernels.h"

#include <sys/mman.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <memory>
#include <new>
#include <numeric>
#include <type_traits>
#include <vector>

#include "shared/thread_team.h"
#include "shared/threads.h"

#ifdef HAS_SEVERAL_MACHINES
#include <immintrin.h>
#endif

namespace training {
namespace {

using shared::ThreadTeam;

constexpr std::size_t kColumns = 4 * kLanes;
constexpr std::size_t kBatch = 64;  // utterances whose sums are computed together

constexpr std::size_t round_up(std::size_t number, std::size_t multiple) {
  return (number + multiple - 1) / multiple * multiple;
}

constexpr std::size_t kCacheLine = 64;
constexpr std::size_t kHugePage = std::size_t{1} << 21;

// Numbers that begin at a cache line, initially zero.
template <typename Number>
class Array {
 public:
  explicit Array(std::size_t size = 0) {
    const std::size_t wanted = std::max<std::size_t>(size, 1) * sizeof(Number);
    const std::size_t alignment = wanted < kHugePage ? kCacheLine : kHugePage;
    const std::size_t bytes = round_up(wanted, alignment);
    numbers_.reset(static_cast<Number*>(std::aligned_alloc(alignment, bytes)));
    if (!numbers_) throw std::bad_alloc();
#ifdef MADV_HUGEPAGE
    if (alignment == kHugePage) madvise(numbers_.get(), bytes, MADV_HUGEPAGE);
#endif
    std::memset(static_cast<void*>(numbers_.get()), 0, bytes);
  }

  Number* data() { return numbers_.get(); }
  const Number* data() const { return numbers_.get(); }
  Number& operator[](std::size_t index) { return numbers_.get()[index]; }

 private:
  struct Free {
    void operator()(Number* numbers) const { std::free(numbers); }
  };
  std::unique_ptr<Number, Free> numbers_;
};

// The first utterance that has not ended at frame `at`. Batches are mostly sorted by length, so this skips the ended
// ones.
std::size_t first_running(const std::int32_t* lengths, std::size_t batch, std::size_t at) {
  std::size_t first = 0;
  while (first < batch && at >= static_cast<std::size_t>(std::max(lengths[first], 0))) ++first;
  return first;
}

#define INLINE_MEMBER inline __attribute__((always_inline))
#define KERNELS "training/machine.inc"
#include "shared/each_machine.inc"

#ifdef HAS_SEVERAL_MACHINES
#pragma GCC push_options
#pragma GCC target("avx512f,avx512bw,avx512dq,avx512vl,avx512bf16,fma,prefer-vector-width=512")
#define HAS_BFLOAT16_PRODUCTS
#define MACHINE avx512_bfloat16
#define VECTOR_BYTES 64
#include KERNELS
#pragma GCC pop_options
#endif

// The number of threads that are useful: at most one for each piece, and few if memory is the limit, as in work row by
// row, since each thread has to be started.
template <typename Task>
std::size_t most_threads(const Task&) {
  return 8;
}
template <typename Number>
std::size_t most_threads(const LstmForward<Number>& task) {
  return round_up(task.extent.units, kLanes) / kLanes;
}
template <typename Number>
std::size_t most_threads(const LstmBackward<Number>& task) {
  return round_up(task.extent.units, kColumns) / kColumns;
}
std::size_t most_threads(const Ctc& task) { return task.batch; }

template <typename Task>
void run_on(const Task& task, std::size_t threads, Machine machine) {
  threads = std::min(threads ? threads : shared::usable_cores(), most_threads(task));
  ThreadTeam team(std::max<std::size_t>(threads, 1));
  switch (machine) {
#ifdef HAS_SEVERAL_MACHINES
    case Machine::kAmx:
    case Machine::kAvx512Bfloat16: return avx512_bfloat16::run(task, team);
    case Machine::kAvx512Vnni:
    case Machine::kAvx512: return avx512::run(task, team);
    case Machine::kAvx2: return avx2::run(task, team);
#endif
    default: return any_machine::run(task, team);
  }
}

}  // namespace

#define DEFINE_RUN(Task)                                                       \
  template <typename Number>                                                   \
  void run(const Task<Number>& task, std::size_t threads, Machine machine) {   \
    run_on(task, threads, machine);                                            \
  }                                                                            \
  template void run(const Task<float>&, std::size_t, Machine);                 \
  template void run(const Task<Bfloat16>&, std::size_t, Machine);

DEFINE_RUN(LstmForward)
DEFINE_RUN(LstmBackward)
DEFINE_RUN(Dropout)
DEFINE_RUN(SwishBackward)
DEFINE_RUN(NormalizationForward)
DEFINE_RUN(NormalizationBackward)
DEFINE_RUN(ActivationForward)
DEFINE_RUN(ActivationBackward)

void run(const Ctc& task, std::size_t threads, Machine machine) { run_on(task, threads, machine); }
void run(const Join& task, std::size_t threads, Machine machine) { run_on(task, threads, machine); }

}  // namespace training
