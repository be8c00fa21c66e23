#include "c_api/network/attention.h"

#include <algorithm>
#include <cmath>
#include <memory>

#include "c_api/failure.h"
#include "c_api/network/conformer.h"
#include "shared/softmax.h"

namespace speech {
namespace {

constexpr double kLongestWave = 10000;
constexpr std::size_t kQueriesTogether = 128;  // whose scores are kept at a time

// Replaces scores [rows, size] by the shares that they make, row by row.
void make_shares(std::vector<float>& scores, std::size_t size, float factor) {
  for (std::size_t begin = 0; begin < scores.size(); begin += size) shared::softmax(&scores[begin], size, factor);
}

Product without_bias(const std::vector<float>& matrix, std::size_t rows, std::size_t columns) {
  const std::vector<float> zeros(columns);
  return Product({matrix.data(), rows, columns, false}, zeros.data(), Precision::kFloat32);
}

}  // namespace

SelfAttentionLayer::SelfAttentionLayer(const LayerRecord& record, std::size_t inputs, WeightReader& weights,
                                       Precision precision)
    : width_(inputs),
      heads_(checked_heads(record, inputs)),
      size_(inputs / heads_),
      chunk_(record.size("chunk")),
      left_(record.size("left")),
      normalizer_(record.name + "/normalization", inputs, weights),
      inner_(residual_product(record, "inner", inputs, 3 * inputs, weights, precision)),
      outer_(residual_product(record, "outer", inputs, inputs, weights, precision)) {
  for (std::size_t place = 0; place < size_ / 2; ++place) {
    waves_.push_back(std::pow(kLongestWave, -2 * static_cast<double>(place) / static_cast<double>(size_)));
  }
}

std::size_t SelfAttentionLayer::checked_heads(const LayerRecord& record, std::size_t inputs) {
  const std::size_t heads = record.size("heads");
  if (heads < 1 || inputs % (2 * heads) != 0) {
    throw Failure(DS_ERR_INVALID_SHAPE, "its network cannot be run: layer " + record.name + " has " +
                                            std::to_string(heads) + " heads, which cannot share " +
                                            std::to_string(inputs) + " numbers in pairs");
  }
  return heads;
}

// Adds the queries, keys and values of rows, the first of which is at a position in the utterance.
void SelfAttentionLayer::add_rows(const std::vector<float>& rows, std::size_t position, std::size_t threads,
                                  std::vector<Head>& heads) const {
  std::vector<float> normalized = rows;
  normalizer_.run(normalized);
  const std::vector<float> product = inner_.run(normalized, -kInfinity, kInfinity, threads);
  for (std::size_t row = 0; row < rows.size() / width_; ++row) {
    for (std::size_t head = 0; head < heads_; ++head) {
      std::vector<float>* const parts[] = {&heads[head].queries, &heads[head].keys, &heads[head].values};
      for (std::size_t part = 0; part < 3; ++part) {
        const float* const from = &product[(3 * row + part) * width_ + head * size_];
        parts[part]->insert(parts[part]->end(), from, from + size_);
        if (part < 2) rotate(&parts[part]->back() + 1 - size_, position + row);
      }
    }
  }
}

void SelfAttentionLayer::rotate(float* values, std::size_t position) const {
  const std::size_t half = size_ / 2;
  for (std::size_t place = 0; place < half; ++place) {
    const double angle = static_cast<double>(position) * waves_[place];  // a double, as positions grow large
    const auto cosine = static_cast<float>(std::cos(angle)), sine = static_cast<float>(std::sin(angle));
    const float first = values[place], second = values[half + place];
    values[place] = first * cosine - second * sine;
    values[half + place] = second * cosine + first * sine;
  }
}

// The means [count, size] of the values of a head's rows from `first` up to, but without, `last`; they are written
// `width` numbers apart.
void SelfAttentionLayer::attend(const float* queries, std::size_t count, const Head& head, std::size_t first,
                                std::size_t last, std::size_t threads, float* means) const {
  const std::size_t seen = last - first;
  std::vector<float> transposed(size_ * seen);
  for (std::size_t row = 0; row < seen; ++row) {
    for (std::size_t place = 0; place < size_; ++place) {
      transposed[place * seen + row] = head.keys[(first + row) * size_ + place];
    }
  }
  const auto from = head.values.begin() + static_cast<std::ptrdiff_t>(first * size_);
  const Product keys = without_bias(transposed, size_, seen);
  const Product values = without_bias({from, from + static_cast<std::ptrdiff_t>(seen * size_)}, seen, size_);
  const float factor = 1 / std::sqrt(static_cast<float>(size_));
  for (std::size_t begin = 0; begin < count; begin += kQueriesTogether) {
    const std::size_t end = std::min(count, begin + kQueriesTogether);
    std::vector<float> scores =
        keys.run({queries + begin * size_, queries + end * size_}, -kInfinity, kInfinity, threads);
    make_shares(scores, seen, factor);
    const std::vector<float> found = values.run(scores, -kInfinity, kInfinity, threads);
    for (std::size_t row = begin; row < end; ++row) std::copy_n(&found[(row - begin) * size_], size_, means + row * width_);
  }
}

// Keeps the rows of the chunk that is not complete, and the keys and values that are seen of the rows before.
class SelfAttentionLayer::Run : public LayerRun {
 public:
  explicit Run(const SelfAttentionLayer& layer) : layer_(layer), heads_(layer.heads_) {}

  std::vector<float> run(std::vector<float> values, bool last, std::size_t threads) override {
    const std::size_t width = layer_.width_, size = layer_.size_;
    waiting_.insert(waiting_.end(), values.begin(), values.end());
    const std::size_t count = waiting_.size() / width, chunk = layer_.chunk_ ? layer_.chunk_ : std::max<std::size_t>(count, 1);
    const std::size_t complete = last ? count : count / chunk * chunk, before = heads_[0].keys.size() / size;
    const auto passed = waiting_.begin() + static_cast<std::ptrdiff_t>(complete * width);
    std::vector<float> rows(waiting_.begin(), passed);
    waiting_.erase(waiting_.begin(), passed);
    layer_.add_rows(rows, position_, threads, heads_);
    position_ += complete;
    std::vector<float> means(rows.size());
    for (std::size_t begin = 0; begin < complete; begin += chunk) {
      const std::size_t end = std::min(begin + chunk, complete);
      const std::size_t hidden = layer_.chunk_ && before + begin > layer_.left_ ? before + begin - layer_.left_ : 0;
      for (std::size_t head = 0; head < heads_.size(); ++head) {
        layer_.attend(&heads_[head].queries[begin * size], end - begin, heads_[head], hidden, before + end, threads,
                      &means[begin * width + head * size]);
      }
    }
    const std::vector<float> outer = layer_.outer_.run(means, -kInfinity, kInfinity, threads);
    for (std::size_t place = 0; place < rows.size(); ++place) rows[place] += outer[place];
    forget();
    return rows;
  }

 private:
  void forget() {
    for (Head& head : heads_) {
      head.queries.clear();
      for (std::vector<float>* const part : {&head.keys, &head.values}) {
        const std::size_t kept = std::min(part->size(), layer_.left_ * layer_.size_);
        part->erase(part->begin(), part->end() - static_cast<std::ptrdiff_t>(kept));
      }
    }
  }

  const SelfAttentionLayer& layer_;
  std::vector<Head> heads_;
  std::vector<float> waiting_;
  std::size_t position_ = 0;  // of the first row that waits
};

std::unique_ptr<LayerRun> SelfAttentionLayer::begin() const { return std::make_unique<Run>(*this); }

}  // namespace speech
