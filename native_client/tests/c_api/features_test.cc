// The features of the C interface are those that models are trained on.
#include "c_api/features/fbank.h"

#include <cmath>

#include "c_api/features/stacking.h"
#include "tests/testing.h"

namespace {

using speech::Fbank;
using speech::FeatureSettings;
using speech::FrontEndKind;
using speech::NormalizationKind;

FeatureSettings six_filters() {
  return {FrontEndKind::kFbank, 16000, 400, 160, 6, NormalizationKind::kNone, {}, {}, 1, 1, 0.01};
}

std::vector<short> waves(int count) {
  std::vector<short> samples;
  for (int place = 0; place < count; ++place) {
    samples.push_back(static_cast<short>(((place * place * 7 + place * 13) % 2001 - 1000) * 8));
  }
  return samples;
}

std::vector<float> energies(const std::vector<short>& samples, std::size_t piece) {
  const Fbank fbank(six_filters());
  const auto stream = fbank.begin();
  std::vector<float> found;
  for (std::size_t start = 0; start < samples.size(); start += piece) {
    stream->feed(&samples[start], std::min(piece, samples.size() - start), found);
  }
  stream->finish(found);
  return found;
}

TEST(the_energies_of_fbank_are_those_of_kaldi) {
  // The features that kaldi-native-fbank computes from the same samples, in the frames 0, 1, 3 and 5 of 6.
  const std::vector<std::vector<float>> expected = {
      {0.373591f, 1.492084f, 2.504729f, 4.422694f, 5.382887f, 6.388071f},
      {0.295118f, 1.513498f, 2.484368f, 4.434225f, 5.422232f, 6.446199f},
      {-0.225480f, 1.476734f, 2.726870f, 4.352499f, 5.468180f, 6.355536f},
      {0.116971f, 2.150272f, 3.375495f, 4.428384f, 5.376378f, 6.510769f},
  };
  const std::vector<std::size_t> frames = {0, 1, 3, 5};
  for (const std::size_t piece : {1u, 7u, 160u, 1000u}) {
    const std::vector<float> found = energies(waves(1000), piece);
    CHECK(found.size() == 6 * 6);
    for (std::size_t row = 0; row < frames.size(); ++row) {
      for (std::size_t place = 0; place < 6; ++place) CHECK_NEAR(found[frames[row] * 6 + place], expected[row][place], 1e-4);
    }
  }
  const std::vector<float> of_short = {0.672181f, 1.653633f, 1.727582f, 4.011449f, 5.203412f, 6.426452f};
  const std::vector<float> found = energies(waves(90), 90);  // less than a window, which is mirrored more than once
  CHECK(found.size() == 6 && energies({}, 1).empty() && energies(waves(79), 79).empty());
  for (std::size_t place = 0; place < 6; ++place) CHECK_NEAR(found[place], of_short[place], 1e-4);
}

TEST(more_filters_than_fit_are_refused) {
  FeatureSettings settings = six_filters();
  settings.coefficients = 120;
  CHECK(Fbank(settings).settings().coefficients == 120);
  settings.coefficients = 200;
  CHECK_THROWS(Fbank{settings}, "200 mel filters do not fit into its windows of 400 samples");
}

TEST(frames_are_stacked_and_the_last_one_stands_for_those_that_are_missing) {
  for (const std::size_t piece : {1u, 2u, 5u}) {
    const auto stacked = [&](std::size_t frames, std::size_t skip) {
      speech::Stacking stacking(1, frames, skip);
      std::vector<float> found;
      for (std::size_t start = 0; start < 5; start += piece) {
        std::vector<float> part;
        for (std::size_t frame = start; frame < std::min<std::size_t>(start + piece, 5); ++frame) {
          part.push_back(static_cast<float>(frame));
        }
        stacking.feed(part, found);
      }
      stacking.finish(found);
      return found;
    };
    CHECK(stacked(1, 1) == std::vector<float>({0, 1, 2, 3, 4}));
    CHECK(stacked(2, 2) == std::vector<float>({0, 1, 2, 3, 4, 4}));
    CHECK(stacked(3, 2) == std::vector<float>({0, 1, 2, 2, 3, 4, 4, 4, 4}));
    CHECK(stacked(2, 3) == std::vector<float>({0, 1, 3, 4}));
  }
}

}  // namespace
