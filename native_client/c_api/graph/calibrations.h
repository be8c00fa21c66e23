// The calibrations of words' confidences, which a graph may have.
#pragma once

#include "c_api/graph/frozen_graph.h"

namespace speech {

// The weights of a logistic function; see deepspeech/serving/confidence/calibration.py.
struct Calibration {
  double bias, agreement, clarity;
};

// For decoding without a language model, and with one. The defaults are those of the Python package.
struct Calibrations {
  Calibration acoustic{-1.96, 0.20, 0.62};
  Calibration language_model{-1.27, 0.31, 0.38};
};

// Throws Failure for damaged calibrations.
Calibrations read_calibrations(const FrozenGraph& graph);

}  // namespace speech
