// One utterance from samples to hypotheses, piece by piece.
#pragma once

#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "c_api/features/features.h"
#include "c_api/network/network.h"
#include "c_api/recognition/hypotheses.h"
#include "c_api/recognition/words.h"
#include "decoder/decoder.h"
#include "language_model/scorer.h"

namespace speech {

// All that is computed before the search; threads may share one.
struct AcousticModel {
  AcousticModel(const std::string& path, Precision precision);

  std::string path;
  SpeechModel info;
  Features features;
  Network network;
  std::string why_whole;  // why it cannot stream; empty if it can

 private:
  AcousticModel(const std::string& path, const FrozenGraph& graph, Precision precision);
};

// The hypotheses are the same however the samples are cut. Threads may share one: each call waits until those of other
// threads are done. Throws Failure if the network's outputs are not probabilities because its weights are damaged.
class Recognition {
 public:
  // `scorer` is the decoder's; null without a scorer.
  Recognition(std::shared_ptr<const AcousticModel> acoustic, std::shared_ptr<const ctc::Decoder> decoder,
              const ctc::Scorer* scorer);

  void feed(const short* samples, std::size_t count);

  // The `count` best hypotheses of the samples so far, best first, or of the whole utterance. Nothing can be fed after
  // `finish`. A model that needs whole recordings has no hypotheses before the end.
  std::vector<Hypothesis> peek(std::size_t count);
  std::vector<Hypothesis> finish(std::size_t count);

  // The same with words.
  std::vector<Transcript> peek_transcripts(std::size_t count);
  std::vector<Transcript> finish_transcripts(std::size_t count);

  double step_seconds() const { return acoustic_->info.row_seconds; }

 private:
  std::size_t waiting_windows() const;
  std::vector<ctc::Result> peek_results(std::size_t count);
  std::vector<ctc::Result> finish_results(std::size_t count);
  std::vector<Transcript> transcripts(const std::vector<ctc::Result>& results, std::size_t count);
  void run_waiting(bool last);
  void search(const std::vector<float>& posteriors);

  std::mutex in_use_;
  std::shared_ptr<const AcousticModel> acoustic_;
  ctc::Stream search_;
  Writer writer_;
  WordReader words_;
  Calibration calibration_;
  Rivals rivals_;
  std::unique_ptr<FrameStream> features_;
  Network::Run network_;
  std::size_t samples_ = 0;    // fed so far
  std::vector<float> frames_;  // frames whose windows wait to be computed, with their neighbours
};

}  // namespace speech
