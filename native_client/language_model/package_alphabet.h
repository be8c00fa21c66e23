// Whether a scorer package was made for the labels that it is used with. The package does not record this: its words
// are numbers of labels, or bytes.
#pragma once

#include <string>
#include <vector>

#include "language_model/language_model.h"
#include "language_model/scorer_package.h"
#include "shared/labels.h"

namespace ctc {

// Returns why the package must have been made for another alphabet, or nothing if it seems to fit this one. `words` are
// the package's, as these labels spell them.
std::string find_other_alphabet(const Labels& labels, const LanguageModel& language_model,
                                const PackageTrailer& package, const std::vector<std::string>& words);

}  // namespace ctc
