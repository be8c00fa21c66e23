// Loading what scores the hypotheses.
#pragma once

#include <memory>
#include <string>

#include "language_model/scorer.h"

namespace speech {

// Loads a scorer package, or a KenLM file, whose vocabulary shows whether it is one of words or of characters. Throws
// ctc::Error, naming the file, if it cannot be used with these labels.
std::shared_ptr<const ctc::Scorer> load_scorer(const ctc::Labels& labels, const std::string& path);

// Whether all words of a vocabulary are single characters that spell text: if one of them stands for a space, if labels
// are bytes or none begins with a space that could separate words, or if they belong to a script that is written
// without. Letters may otherwise be words, of someone who spells.
bool is_of_characters(const std::vector<std::string>& vocabulary, const ctc::Labels& labels);

}  // namespace speech
