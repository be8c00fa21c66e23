#include "scorer.h"

#include "error.h"

namespace ctc {
namespace {

LexiconTrie build_trie(const Labels& labels, const LanguageModel& language_model, const std::string& path) {
  if (labels.delimiter() == Labels::kNone) {
    throw Error("a language model of words needs a label ' ' between the words, but the labels have none");
  }
  const std::vector<std::string>& words = language_model.words();
  std::vector<LexiconEntry> entries;
  for (Word word = 0; word < words.size(); ++word) {
    std::vector<Label> spelling;
    if (language_model.is_special(word) || words[word].empty() || !labels.spell(words[word], spelling)) continue;
    entries.push_back({std::move(spelling), word, language_model.unigram_score(word)});
  }
  if (entries.empty()) {
    throw Error("the labels fit none of the " + std::to_string(words.size()) + " words of " + path +
                "; it was made for another alphabet");
  }
  return LexiconTrie(std::move(entries));
}

}  // namespace

Scorer::Scorer(const Labels& labels, const std::string& language_model_path)
    : labels_(labels),
      language_model_(language_model_path),
      trie_(build_trie(labels_, language_model_, language_model_path)) {}

}  // namespace ctc
