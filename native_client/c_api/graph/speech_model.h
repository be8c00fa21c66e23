// The metadata and the network of an exported graph, without the weights.
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
  bool word_pieces;  // whether a tokenizer cuts words into labels
  FeatureSettings features;
  std::vector<LayerRecord> layers;  // of the network, after its context window
  std::size_t context;              // frames of the window on either side
  double row_seconds;               // from one row of posteriors to the next
  std::size_t n_steps;     // windows of a stream that are computed at once
  std::size_t beam_width;  // the model's recommendation
  std::string language;    // empty if it says none
  Calibrations calibrations;
};

// Throws Failure for a graph that is damaged or not supported: with an unknown network or features, or with output
// units other than characters, bytes and word pieces.
SpeechModel read_speech_model(const FrozenGraph& graph);

// Why a model cannot stream, as in "its layer lstm_1 is ..."; empty if it can.
std::string why_whole(const SpeechModel& model);

}  // namespace speech
