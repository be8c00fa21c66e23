#include "language_model/vocabulary.h"

#include <algorithm>

#include "shared/error.h"
#include "shared/utf8.h"

namespace ctc {
namespace {

// KenLM separates words by spaces, so a model of characters needs another name for the space.
constexpr char kSpaceWord[] = "<space>";

void check_spelling(const Labels& labels, const Spelling& spelling, const std::string& text) {
  for (const Label label : spelling) {
    if (label < labels.size()) continue;
    throw Error("the spelling of '" + text + "' has label " + std::to_string(label) + ", which does not exist");
  }
  if (labels.join(spelling) == text) return;
  throw Error("the spelling of '" + text + "' reads '" + labels.join(spelling) + "'");
}

void check_words_are_parted(const Labels& labels, Unit unit) {
  if (unit == Unit::kCharacter || labels.part_words()) return;
  throw Error("a language model of words needs a label ' ' between the words, but the labels have none");
}

// True unless there is a delimiter, or another beginning of a word, inside.
bool is_one_word(const Labels& labels, const Spelling& spelling) {
  const auto begins = [&](Label label) { return labels.begins_word(label); };
  return std::none_of(spelling.begin() + labels.spell_beginnings(), spelling.end(), begins);
}

bool is_several_characters(const std::string& text) {
  return shared::is_utf8(text) && shared::first_character(text).size < text.size();
}

LexiconTrie make_trie(std::vector<LexiconEntry> entries, const LanguageModel& language_model, Unit unit,
                      std::size_t words, const std::string& example = "") {
  if (entries.empty()) {
    throw Error("the labels fit none of the " + std::to_string(words) +
                (unit == Unit::kWord ? " words of " : " characters of ") + language_model.path() +
                (example.empty() ? "" : ", such as '" + example + "'") +
                "; build it of words in the letters and the case of the alphabet");
  }
  return LexiconTrie(std::move(entries));
}

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

void check_labels_are_characters(const Labels& labels, const std::string& path) {
  if (labels.spell_beginnings()) {
    throw Error(path + ": is of characters, but word pieces need a language model of words; build one");
  }
  const auto& texts = labels.texts();
  const auto several = std::count_if(texts.begin(), texts.end(), is_several_characters);
  if (2 * static_cast<std::size_t>(several) <= texts.size()) return;
  throw Error(path + ": most labels of the alphabet are several characters, as '" +
              *std::find_if(texts.begin(), texts.end(), is_several_characters) +
              "', which a language model of characters cannot write; build one of words, or make the alphabet without " +
              "--join_marks");
}

std::vector<Spelling> spell_word(const Labels& labels, Unit unit, const Spell& spell, const std::string& word) {
  std::string text = word_text(word, unit);
  if (text.empty()) return {};
  const bool with_beginning = unit == Unit::kWord && labels.spell_beginnings();
  std::vector<Spelling> spellings;
  if (spell) {
    spellings = spell(text);
    if (with_beginning) text.insert(0, " ");
    for (const Spelling& spelling : spellings) check_spelling(labels, spelling, text);
    std::sort(spellings.begin(), spellings.end());
    spellings.erase(std::unique(spellings.begin(), spellings.end()), spellings.end());
  } else {
    if (with_beginning) text.insert(0, " ");
    spellings = labels.spell(text);
  }
  return spellings;
}

std::string spelled_word(const Labels& labels, Unit unit, const Spelling& spelling) {
  std::string text = labels.join(spelling);
  if (unit == Unit::kCharacter || !labels.spell_beginnings()) return text_word(text, unit);
  return text.empty() || text.front() != ' ' ? "" : text.substr(1);
}

LexiconTrie build_trie(const Labels& labels, const LanguageModel& language_model, Unit unit, const Spell& spell,
                       const std::vector<std::string>& words) {
  check_words_are_parted(labels, unit);
  std::vector<LexiconEntry> entries;
  std::string example;
  for (const std::string& word : words) {
    const Word index = language_model.index(word);
    if (index == 0 || language_model.is_special(index)) continue;
    if (example.empty()) example = word;
    if (unit == Unit::kCharacter && !is_character(word_text(word, unit))) continue;
    for (Spelling& spelling : spell_word(labels, unit, spell, word)) {
      if (unit == Unit::kWord && !is_one_word(labels, spelling)) continue;
      entries.push_back({std::move(spelling), index, language_model.unigram_score(index)});
    }
  }
  return make_trie(std::move(entries), language_model, unit, words.size(), example);
}

LexiconTrie build_trie(const Labels& labels, const LanguageModel& language_model, Unit unit,
                       std::vector<Spelling> spellings) {
  check_words_are_parted(labels, unit);
  std::vector<LexiconEntry> entries;
  for (Spelling& spelling : spellings) {
    const Word index = language_model.index(spelled_word(labels, unit, spelling));
    if (index == 0 || language_model.is_special(index)) continue;
    if (unit == Unit::kWord && !is_one_word(labels, spelling)) continue;
    entries.push_back({std::move(spelling), index, language_model.unigram_score(index)});
  }
  return make_trie(std::move(entries), language_model, unit, spellings.size());
}

}  // namespace ctc
