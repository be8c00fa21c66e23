// What an exported graph says of its model, beside the weights.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "c_api/graph/calibrations.h"
#include "c_api/graph/feature_settings.h"
#include "c_api/graph/frozen_graph.h"
#include "c_api/graph/layer_records.h"

namespace speech {

struct SpeechModel {
  std::vector<std::string> labels;  // UTF-8, or single bytes of it; the blank comes after them
  bool word_pieces;  // whether a word is cut into labels as a tokenizer does
  FeatureSettings features;
  std::vector<LayerRecord> layers;  // of the network, after its context window
  std::size_t context;              // frames on either side that the window has
  double row_seconds;               // from one row of posteriors to the next
  std::size_t n_steps;     // windows that a stream is computed in
  std::size_t beam_width;  // that the model recommends
  std::string language;    // empty if it says none
  Calibrations calibrations;
};

// Throws Failure for a graph that is damaged, or that this library does not run: that of a network or features that it
// does not know, or of output units other than characters, bytes and word pieces.
SpeechModel read_speech_model(const FrozenGraph& graph);

// Why a model cannot hear before the end of the audio, as in "its layer lstm_1 is ..."; empty if it can.
std::string why_whole(const SpeechModel& model);

}  // namespace speech
