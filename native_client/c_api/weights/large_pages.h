// Memory for weights that are read in every frame: in large pages, so that the processor has to look up far fewer
// addresses.
#pragma once

#include <sys/mman.h>

#include <cstddef>
#include <cstdlib>
#include <new>
#include <vector>

namespace speech {

template <class Value>
struct LargePages {
  using value_type = Value;

  LargePages() = default;
  template <class Other>
  LargePages(const LargePages<Other>&) {}

  Value* allocate(std::size_t count) {
    constexpr std::size_t kLine = 64, kLargePage = std::size_t{1} << 21;
    const std::size_t size = count * sizeof(Value), alignment = size < kLargePage ? kLine : kLargePage;
    void* const memory = std::aligned_alloc(alignment, (size + alignment - 1) / alignment * alignment);
    if (!memory) throw std::bad_alloc();
#ifdef MADV_HUGEPAGE
    if (alignment == kLargePage) madvise(memory, size, MADV_HUGEPAGE);  // optional: without them it is only slower
#endif
    return static_cast<Value*>(memory);
  }
  void deallocate(Value* memory, std::size_t) { std::free(memory); }

  bool operator==(const LargePages&) const { return true; }
  bool operator!=(const LargePages&) const { return false; }
};

template <class Value>
using Weights = std::vector<Value, LargePages<Value>>;

}  // namespace speech
