#include "language_model/vocabulary.h"

#include <algorithm>

#include "shared/error.h"

namespace ctc {
namespace {

// KenLM separates words by spaces, so a model of characters needs another name for the space.
constexpr char kSpaceWord[] = "<space>";

}  // namespace

std::string word_text(const std::string& word, Unit unit) {
  return unit == Unit::kCharacter && word == kSpaceWord ? " " : word;
}

std::string text_word(const std::string& text, Unit unit) {
  return unit == Unit::kCharacter && text == " " ? kSpaceWord : text;
}

bool is_character(const std::string& text) {
  const auto continues = [](char byte) { return (static_cast<unsigned char>(byte) & 0xC0) == 0x80; };
  return !text.empty() && !continues(text.front()) && std::all_of(text.begin() + 1, text.end(), continues);
}

LexiconTrie build_trie(const Labels& labels, const LanguageModel& language_model, Unit unit) {
  return build_trie(labels, language_model, unit, language_model.words());
}

LexiconTrie build_trie(const Labels& labels, const LanguageModel& language_model, Unit unit,
                       const std::vector<std::string>& words) {
  if (unit == Unit::kWord && labels.delimiter() == Labels::kNone) {
    throw Error("a language model of words needs a label ' ' between the words, but the labels have none");
  }
  std::vector<LexiconEntry> entries;
  for (const std::string& word : words) {
    const Word index = language_model.index(word);
    const std::string text = word_text(word, unit);
    if (index == 0 || language_model.is_special(index) || (unit == Unit::kCharacter && !is_character(text))) continue;
    std::vector<Label> spelling;
    if (text.empty() || !labels.spell(text, spelling)) continue;
    if (unit == Unit::kWord && std::count(spelling.begin(), spelling.end(), labels.delimiter())) continue;
    entries.push_back({std::move(spelling), index, language_model.unigram_score(index)});
  }
  if (entries.empty()) {
    throw Error("the labels fit none of the " + std::to_string(words.size()) +
                (unit == Unit::kWord ? " words of " : " characters of ") + language_model.path() +
                "; it was made for another alphabet");
  }
  return LexiconTrie(std::move(entries));
}

}  // namespace ctc
