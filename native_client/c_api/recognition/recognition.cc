#include "c_api/recognition/recognition.h"

#include <algorithm>
#include <utility>

#include "c_api/failure.h"

namespace speech {
namespace {

constexpr std::size_t kLargestBlock = std::size_t{1} << 18;  // samples whose features are computed at once
constexpr std::size_t kLargestChunk = 128;                   // windows that go through the network at once

}  // namespace

AcousticModel::AcousticModel(const std::string& path) : AcousticModel(path, FrozenGraph(path)) {}

AcousticModel::AcousticModel(const std::string& path, const FrozenGraph& graph)
    : path(path), info(read_speech_model(graph)), mfcc(info.features), network(graph, info) {}

Recognition::Recognition(std::shared_ptr<const AcousticModel> acoustic, std::shared_ptr<const ctc::Decoder> decoder,
                         bool words_apart)
    : acoustic_(std::move(acoustic)),
      search_(std::move(decoder)),
      writer_(acoustic_->info.labels, words_apart),
      mfcc_(acoustic_->mfcc),
      frames_(acoustic_->info.context * acoustic_->info.features.coefficients) {}

void Recognition::feed(const short* samples, std::size_t count) {
  const std::lock_guard lock(in_use_);
  for (std::size_t start = 0; start < count; start += kLargestBlock) {
    mfcc_.feed(samples + start, std::min(kLargestBlock, count - start), frames_);
    if (waiting_windows() >= acoustic_->info.n_steps) run_waiting();
  }
}

std::vector<Hypothesis> Recognition::peek(std::size_t count) {
  const std::lock_guard lock(in_use_);
  run_waiting();
  return writer_.hypotheses(search_.peek(count));
}

std::vector<Hypothesis> Recognition::finish(std::size_t count) {
  const std::lock_guard lock(in_use_);
  mfcc_.finish(frames_);
  frames_.resize(frames_.size() + acoustic_->info.context * acoustic_->info.features.coefficients);
  run_waiting();
  return writer_.hypotheses(search_.finish(count));
}

std::size_t Recognition::waiting_windows() const {
  const std::size_t frames = frames_.size() / acoustic_->info.features.coefficients;
  const std::size_t neighbours = 2 * acoustic_->info.context;
  return frames > neighbours ? frames - neighbours : 0;
}

void Recognition::run_waiting() {
  const std::size_t coefficients = acoustic_->info.features.coefficients, inputs = acoustic_->network.inputs();
  const std::size_t count = waiting_windows();
  for (std::size_t first = 0; first < count; first += kLargestChunk) {
    const std::size_t last = std::min(count, first + kLargestChunk);
    std::vector<float> windows;
    windows.reserve((last - first) * inputs);
    for (std::size_t window = first; window < last; ++window) {
      const auto begin = frames_.begin() + static_cast<std::ptrdiff_t>(window * coefficients);
      windows.insert(windows.end(), begin, begin + static_cast<std::ptrdiff_t>(inputs));
    }
    const std::vector<float> posteriors = acoustic_->network.run(windows, state_);
    const std::size_t outputs = acoustic_->network.outputs();
    constexpr std::ptrdiff_t kSize = sizeof(float);
    try {
      search_.feed({posteriors.data(), false, last - first, outputs, static_cast<std::ptrdiff_t>(outputs) * kSize, kSize});
    } catch (const ctc::Error& error) {
      throw Failure(DS_ERR_FAIL_RUN_SESS,
                    acoustic_->path + ": what the network computes is not a probability: " + error.what());
    }
  }
  frames_.erase(frames_.begin(), frames_.begin() + static_cast<std::ptrdiff_t>(count * coefficients));
}

}  // namespace speech
