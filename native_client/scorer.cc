#include "scorer.h"

#include "error.h"
#include "trie_file.h"

namespace ctc {

Scorer::Scorer(const Labels& labels, const std::string& language_model_path, Unit unit)
    : labels_(labels),
      language_model_(language_model_path, LanguageModel::Vocabulary::kLoad),
      unit_(unit),
      trie_(build_trie(labels_, language_model_, unit)) {}

Scorer::Scorer(const Labels& labels, const std::string& language_model_path, const std::string& trie_path)
    : labels_(labels),
      language_model_(language_model_path, LanguageModel::Vocabulary::kSkip),
      unit_(Unit::kWord),
      trie_(read_trie_file(trie_path, labels_, language_model_, unit_)) {}

}  // namespace ctc
