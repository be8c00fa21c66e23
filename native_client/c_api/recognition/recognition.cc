#include "c_api/recognition/recognition.h"

#include <algorithm>
#include <utility>

#include "c_api/failure.h"

namespace speech {
namespace {

constexpr std::size_t kLargestBlock = std::size_t{1} << 18;  // samples whose features are computed at once
constexpr std::size_t kLargestChunk = 128;                   // windows that go through the network at once

}  // namespace

AcousticModel::AcousticModel(const std::string& path, Precision precision)
    : AcousticModel(path, FrozenGraph(path), precision) {}

AcousticModel::AcousticModel(const std::string& path, const FrozenGraph& graph, Precision precision)
    : path(path),
      info(read_speech_model(graph)),
      features(info.features),
      network(graph, info, precision),
      why_whole(speech::why_whole(info)) {}

Recognition::Recognition(std::shared_ptr<const AcousticModel> acoustic, std::shared_ptr<const ctc::Decoder> decoder,
                         const ctc::Scorer* scorer)
    : acoustic_(std::move(acoustic)),
      search_(std::move(decoder)),
      writer_(acoustic_->info.labels, scorer && scorer->unit() == ctc::Unit::kWord),
      words_(acoustic_->info.labels, acoustic_->info.row_seconds),
      calibration_(scorer ? acoustic_->info.calibrations.language_model : acoustic_->info.calibrations.acoustic),
      features_(acoustic_->features.begin()),
      network_(acoustic_->network),
      frames_(acoustic_->info.context * acoustic_->info.features.width()) {}

void Recognition::feed(const short* samples, std::size_t count) {
  const std::lock_guard lock(in_use_);
  samples_ += count;
  for (std::size_t start = 0; start < count; start += kLargestBlock) {
    features_->feed(samples + start, std::min(kLargestBlock, count - start), frames_);
    if (acoustic_->why_whole.empty() && waiting_windows() >= acoustic_->info.n_steps) run_waiting(false);
  }
}

std::vector<Hypothesis> Recognition::peek(std::size_t count) { return writer_.hypotheses(peek_results(count)); }

std::vector<Hypothesis> Recognition::finish(std::size_t count) { return writer_.hypotheses(finish_results(count)); }

std::vector<Transcript> Recognition::peek_transcripts(std::size_t count) {
  return transcripts(peek_results(std::max(count, kHypothesesSoFar)), count);
}

std::vector<Transcript> Recognition::finish_transcripts(std::size_t count) {
  return transcripts(finish_results(std::max(count, kHypotheses)), count);
}

std::vector<ctc::Result> Recognition::peek_results(std::size_t count) {
  const std::lock_guard lock(in_use_);
  if (acoustic_->why_whole.empty()) run_waiting(false);
  std::vector<ctc::Result> results = search_.peek(count);
  for (ctc::Result& result : results) words_.leave_out_unfinished(result);
  return results;
}

std::vector<ctc::Result> Recognition::finish_results(std::size_t count) {
  const std::lock_guard lock(in_use_);
  features_->finish(frames_);
  frames_.resize(frames_.size() + acoustic_->info.context * acoustic_->info.features.width());
  run_waiting(true);
  return search_.finish(count);
}

std::vector<Transcript> Recognition::transcripts(const std::vector<ctc::Result>& results, std::size_t count) {
  const std::lock_guard lock(in_use_);
  const auto end = results.begin() + static_cast<std::ptrdiff_t>(std::min(count, results.size()));
  const std::vector<Hypothesis> hypotheses = writer_.hypotheses({results.begin(), end});
  auto words = words_.timed_words(results, count, rivals_, calibration_);
  // The network's last step may reach further than the audio.
  const double last = static_cast<double>(samples_) / static_cast<double>(acoustic_->info.features.sample_rate);
  for (std::vector<TimedWord>& said : words) {
    for (TimedWord& word : said) {
      word.start = std::min(word.start, last);
      word.end = std::min(word.end, last);
    }
  }
  std::vector<Transcript> made;
  for (std::size_t place = 0; place < hypotheses.size(); ++place) {
    made.push_back({hypotheses[place].text, hypotheses[place].score, std::move(words[place])});
  }
  return made;
}

std::size_t Recognition::waiting_windows() const {
  const std::size_t frames = frames_.size() / acoustic_->info.features.width();
  const std::size_t neighbours = 2 * acoustic_->info.context;
  return frames > neighbours ? frames - neighbours : 0;
}

void Recognition::run_waiting(bool last) {
  const std::size_t width = acoustic_->info.features.width(), inputs = acoustic_->network.inputs();
  const std::size_t count = waiting_windows(), chunk = acoustic_->why_whole.empty() ? kLargestChunk : count;
  std::size_t first = 0;
  do {  // at least once, as the last rows may come when no windows are left
    const std::size_t end = std::min(count, first + chunk);
    std::vector<float> windows;
    windows.reserve((end - first) * inputs);
    for (std::size_t window = first; window < end; ++window) {
      const auto begin = frames_.begin() + static_cast<std::ptrdiff_t>(window * width);
      windows.insert(windows.end(), begin, begin + static_cast<std::ptrdiff_t>(inputs));
    }
    first = end;
    search(network_.run(std::move(windows), last && end == count));
  } while (first < count);
  frames_.erase(frames_.begin(), frames_.begin() + static_cast<std::ptrdiff_t>(count * width));
}

void Recognition::search(const std::vector<float>& posteriors) {
  const std::size_t outputs = acoustic_->network.outputs();
  constexpr std::ptrdiff_t kSize = sizeof(float);
  try {
    search_.feed({posteriors.data(), false, posteriors.size() / outputs, outputs,
                  static_cast<std::ptrdiff_t>(outputs) * kSize, kSize});
  } catch (const ctc::Error& error) {
    throw Failure(DS_ERR_FAIL_RUN_SESS,
                  acoustic_->path + ": the network's output is not a probability: " + error.what());
  }
  rivals_.feed(posteriors, outputs);
}

}  // namespace speech
