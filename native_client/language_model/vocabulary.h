// From the words of a language model to a trie.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "language_model/language_model.h"
#include "language_model/lexicon_trie.h"
#include "shared/labels.h"

namespace ctc {

// What the language model's "words" are.
enum class Unit : std::uint8_t {
  kWord,      // words, between which transcripts have the delimiter
  kCharacter  // Unicode characters, each spelled by one label or by several (its UTF-8 bytes); "<space>" is a space
};

// How a tokenizer spells a word, or a character; none or several spellings are allowed. Null: as Labels::spell does.
using Spell = std::function<std::vector<Spelling>(const std::string& text)>;

// The different spellings of a word of the language model; none if it cannot be spelled.
// Throws Error if `spell` gives one that reads otherwise.
std::vector<Spelling> spell_word(const Labels& labels, Unit unit, const Spell& spell, const std::string& word);

// The word of a language model that a spelling stands for; empty if it is none.
std::string spelled_word(const Labels& labels, Unit unit, const Spelling& spelling);

// The trie of those of the language model's words that can be spelled. `words`, or `spellings`, are the words to take,
// for language models that were loaded without their vocabulary; of these, the ones it does not know are left out.
// Throws Error if there is none, or if words have nothing to separate them.
LexiconTrie build_trie(const Labels& labels, const LanguageModel& language_model, Unit unit, const Spell& spell,
                       const std::vector<std::string>& words);
LexiconTrie build_trie(const Labels& labels, const LanguageModel& language_model, Unit unit,
                       std::vector<Spelling> spellings);

// Throws Error if a language model of characters, which has this path, could write few of the labels: pieces of words, and
// letters that are one label with their marks.
void check_labels_are_characters(const Labels& labels, const std::string& path);

// The text that a word of the language model stands for in a transcript, and the other way round.
std::string word_text(const std::string& word, Unit unit);
std::string text_word(const std::string& text, Unit unit);

// True if `text` is one Unicode character in UTF-8.
bool is_character(const std::string& text);

}  // namespace ctc
