// Loading the scorer of hypotheses.
#pragma once

#include <memory>
#include <string>

#include "language_model/scorer.h"

namespace speech {

// Loads a scorer package, or a KenLM file, whose vocabulary shows whether it has words or characters. Throws
// ctc::Error, naming the file, if it cannot be used with these labels.
std::shared_ptr<const ctc::Scorer> load_scorer(const ctc::Labels& labels, const std::string& path);

// Whether all words of a vocabulary are single characters that spell text: if one of them is a space, if labels are
// bytes or none begins with a space that could separate words, or if they belong to a script without spaces. Otherwise,
// single letters may be words, as in spelling aloud.
bool is_of_characters(const std::vector<std::string>& vocabulary, const ctc::Labels& labels);

}  // namespace speech
