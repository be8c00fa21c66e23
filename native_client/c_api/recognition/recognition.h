// One utterance from samples to hypotheses, piece by piece.
#pragma once

#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "c_api/recognition/hypotheses.h"
#include "c_api/recognition/mfcc.h"
#include "c_api/recognition/network.h"
#include "decoder/decoder.h"

namespace speech {

// What is computed before the search; threads may share one.
struct AcousticModel {
  explicit AcousticModel(const std::string& path);

  std::string path;
  SpeechModel info;
  Mfcc mfcc;
  Network network;

 private:
  AcousticModel(const std::string& path, const FrozenGraph& graph);
};

// Wherever the samples are cut, the hypotheses are the same. Threads may use one at once: each call waits until those of
// other threads are done. Throws Failure if the network computes what is not a probability, as its weights are damaged.
class Recognition {
 public:
  Recognition(std::shared_ptr<const AcousticModel> acoustic, std::shared_ptr<const ctc::Decoder> decoder,
              bool words_apart);

  void feed(const short* samples, std::size_t count);

  // The `count` best hypotheses of the samples so far, best first, or of the whole utterance, after which nothing more
  // can be fed.
  std::vector<Hypothesis> peek(std::size_t count);
  std::vector<Hypothesis> finish(std::size_t count);

  double step_seconds() const { return acoustic_->info.features.step_seconds; }

 private:
  std::size_t waiting_windows() const;
  void run_waiting();

  std::mutex in_use_;
  std::shared_ptr<const AcousticModel> acoustic_;
  ctc::Stream search_;
  Writer writer_;
  MfccStream mfcc_;
  NetworkState state_;
  std::vector<float> frames_;  // whose windows are to be computed, with their neighbours
};

}  // namespace speech
