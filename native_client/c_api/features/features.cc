#include "c_api/features/features.h"

#include <utility>
#include <vector>

#include "c_api/features/fbank.h"
#include "c_api/features/mfcc.h"
#include "c_api/features/normalization.h"
#include "c_api/features/stacking.h"

namespace speech {
namespace {

std::unique_ptr<const FrontEnd> front_end_of(const FeatureSettings& settings) {
  if (settings.front_end == FrontEndKind::kFbank) return std::make_unique<Fbank>(settings);
  return std::make_unique<Mfcc>(settings);
}

class ModelFrames : public FrameStream {
 public:
  ModelFrames(const FeatureSettings& settings, std::unique_ptr<FrameStream> front_end)
      : settings_(settings),
        front_end_(std::move(front_end)),
        stacking_(settings.coefficients, settings.stack_frames, settings.skip_frames),
        normalization_(settings) {}

  void feed(const short* samples, std::size_t count, std::vector<float>& frames) override {
    std::vector<float> of_front_end;
    front_end_->feed(samples, count, of_front_end);
    stacking_.feed(of_front_end, waiting_);
    if (settings_.normalization != NormalizationKind::kUtterance) normalize(frames);
  }

  void finish(std::vector<float>& frames) override {
    std::vector<float> of_front_end;
    front_end_->finish(of_front_end);
    stacking_.feed(of_front_end, waiting_);
    stacking_.finish(waiting_);
    normalize(frames);
  }

 private:
  void normalize(std::vector<float>& frames) {
    normalization_.run(waiting_.data(), waiting_.size() / settings_.width());
    frames.insert(frames.end(), waiting_.begin(), waiting_.end());
    waiting_.clear();
  }

  const FeatureSettings& settings_;
  std::unique_ptr<FrameStream> front_end_;
  Stacking stacking_;
  Normalization normalization_;
  std::vector<float> waiting_;  // stacked, and not normalized yet
};

}  // namespace

Features::Features(const FeatureSettings& settings) : settings_(settings), front_end_(front_end_of(settings)) {}

std::unique_ptr<FrameStream> Features::begin() const {
  return std::make_unique<ModelFrames>(settings_, front_end_->begin());
}

}  // namespace speech
