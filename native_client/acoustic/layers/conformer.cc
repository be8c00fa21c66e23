#include "acoustic/layers/conformer.h"

#include <algorithm>
#include <cmath>
#include <complex>
#include <cstddef>

#include "acoustic/layers/attention.h"
#include "shared/threads.h"

namespace acoustic {
namespace {

constexpr double kLongestWave = 10000;
constexpr std::size_t kScoresWorthThreads = std::size_t{1} << 17;  // of all queries and heads
constexpr std::size_t kExactEvery = 256;  // rows between exact angles; other angles are sums

// The product of normalized rows.
Numbers product_of_normalized(const Normalization& normalization, const Product& product, const float* values,
                              std::size_t rows, std::size_t threads, Machine machine = machines().back()) {
  Numbers normalized(rows * normalization.width), outputs(rows * product.filled());
  normalize(normalization, values, rows, normalized.data(), machine);
  product.run(normalized.data(), rows, threads, outputs.data(), -kInfinity, kInfinity, machine);
  return outputs;
}

// sums += the product of values, times a factor.
void add_product(const Product& product, const Numbers& values, std::size_t rows, std::size_t threads, float factor,
                 float* sums, Machine machine = machines().back()) {
  Numbers outputs(rows * product.filled());
  product.run(values.data(), rows, threads, outputs.data(), -kInfinity, kInfinity, machine);
  add(outputs.data(), {rows, product.units, product.filled()}, factor, sums, machine);
}

// Rotary positions (Su et al., 2021): rotates pairs of numbers by angles that grow with the row's position.
class Rotation {
 public:
  Rotation(std::size_t size, std::size_t position) : position_(position), turns_(size / 2), steps_(size / 2) {
    for (std::size_t place = 0; place < size / 2; ++place) {
      const double exponent = -2 * static_cast<double>(place) / static_cast<double>(size);
      waves_.push_back(std::pow(kLongestWave, exponent));
      steps_[place] = std::polar(1.0, waves_[place]);
    }
    begin();
  }

  // Rotates the parts of all heads in a row of `width` numbers.
  void apply(float* row, std::size_t width) const {
    const std::size_t half = turns_.size();
    for (float* head = row; head != row + width; head += 2 * half) {
      for (std::size_t place = 0; place < half; ++place) {
        const float first = head[place], second = head[half + place];
        head[place] = first * cosines_[place] - second * sines_[place];
        head[half + place] = second * cosines_[place] + first * sines_[place];
      }
    }
  }

  void go_on() {
    if (++position_ % kExactEvery == 0) return begin();
    for (std::size_t place = 0; place < turns_.size(); ++place) turns_[place] *= steps_[place];
    round();
  }

 private:
  // Angles are doubles, as positions become large.
  void begin() {
    for (std::size_t place = 0; place < turns_.size(); ++place) {
      turns_[place] = std::polar(1.0, static_cast<double>(position_) * waves_[place]);
    }
    round();
  }

  void round() {
    cosines_.clear();
    sines_.clear();
    for (const std::complex<double>& turn : turns_) {
      cosines_.push_back(static_cast<float>(turn.real()));
      sines_.push_back(static_cast<float>(turn.imag()));
    }
  }

  std::size_t position_;
  std::vector<double> waves_;
  std::vector<std::complex<double>> turns_, steps_;
  Numbers cosines_, sines_;
};

}  // namespace

void FeedForward::run(float* values, std::size_t rows, std::size_t threads, Machine machine) const {
  Numbers hidden = product_of_normalized(normalization, inner, values, rows, threads, machine);
  swish(hidden.data(), {rows, inner.units, inner.filled()}, machine);
  add_product(outer, hidden, rows, threads, 0.5f, values, machine);
}

ConvolutionModule::State ConvolutionModule::initial_state() const {
  return {{}, Numbers((depthwise.taps - 1 - after) * depthwise.width)};
}

Numbers ConvolutionModule::run(const float* values, std::size_t rows, bool last, std::size_t threads,
                               State& state) const {
  const std::size_t width = depthwise.width, needed = depthwise.taps - 1, kept = state.gated.size();
  append(values, rows * width, state.waiting);
  const Numbers products = product_of_normalized(normalization, inner, values, rows, threads);
  state.gated.resize(kept + rows * width);
  gate(products.data(), {rows, width, inner.filled()}, state.gated.data() + kept);
  if (last) state.gated.resize(state.gated.size() + after * width);
  const std::size_t count = state.gated.size() / width, complete = count > needed ? count - needed : 0;
  Numbers convolved(complete * width);
  convolve(depthwise, state.gated.data(), complete, convolved.data());
  taken(complete * width, state.gated);
  normalize(second_normalization, convolved.data(), complete, convolved.data());
  swish(convolved.data(), {complete, width, width});
  Numbers outputs = taken(complete * width, state.waiting);
  add_product(outer, convolved, complete, threads, 1, outputs.data());
  return outputs;
}

Numbers SelfAttention::run(const float* values, std::size_t rows, bool last, std::size_t threads, State& state) const {
  append(values, rows * width(), state.waiting);
  const std::size_t count = state.waiting.size() / width(), before = state.keys.size() / width();
  const std::size_t complete = last || !chunk ? count : count / chunk * chunk;
  if (!complete) return {};
  Numbers outputs = taken(complete * width(), state.waiting), queries;
  Numbers products = product_of_normalized(normalization, inner, outputs.data(), complete, threads);
  Rotation rotation(width() / heads, state.position);
  for (std::size_t row = 0; row < complete; ++row, rotation.go_on()) {
    float* const of_row = products.data() + row * inner.filled();
    rotation.apply(of_row, 2 * width());
    append(of_row, width(), queries);
    append(of_row + width(), width(), state.keys);
    append(of_row + 2 * width(), width(), state.values);
  }
  add_product(outer, attended(queries, state, before, threads), complete, threads, 1, outputs.data());
  state.position += complete;
  const std::size_t seen = before + complete, passed = (seen - std::min(seen, left)) * width();
  taken(passed, state.keys);
  taken(passed, state.values);
  return outputs;
}

// The means of all heads for queries [rows, width]; the first query is that of the row after `before` earlier rows.
Numbers SelfAttention::attended(const Numbers& queries, const State& state, std::size_t before,
                                std::size_t threads) const {
  const std::size_t count = queries.size() / width(), together = chunk ? chunk : count, size = width() / heads;
  const std::size_t chunks = (count + together - 1) / together;
  Numbers means(queries.size());
  const auto of_head = [&](std::size_t piece) {
    const std::size_t begin = piece / heads * together, end = std::min(begin + together, count);
    const std::size_t first = chunk && before + begin > left ? before + begin - left : 0;
    const std::size_t share = piece % heads * size, seen = first * width() + share;
    const Head head{&state.keys[seen], &state.values[seen], before + end - first, size, width()};
    attend(head, &queries[begin * width() + share], end - begin, &means[begin * width() + share]);
  };
  const bool is_worth_threads = count * (together + left) * heads >= kScoresWorthThreads;
  shared::share_out(chunks * heads, is_worth_threads ? threads : 1, of_head);
  return means;
}

}  // namespace acoustic
