// Builds a trie from the words of a language model.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "language_model/language_model.h"
#include "language_model/lexicon_trie.h"
#include "shared/labels.h"

namespace ctc {

// The kinds of "words" of a language model.
enum class Unit : std::uint8_t {
  kWord,      // words, which the delimiter separates in transcripts
  kCharacter  // Unicode characters, each spelled by one label or by several (its UTF-8 bytes); "<space>" is a space
};

// How a tokenizer spells a word, or a character; none or several spellings are allowed. Null: spell as Labels::spell
// does.
using Spell = std::function<std::vector<Spelling>(const std::string& text)>;

// The different spellings of a word of the language model; none if it cannot be spelled.
// Throws Error if `spell` returns a spelling that does not join to the word.
std::vector<Spelling> spell_word(const Labels& labels, Unit unit, const Spell& spell, const std::string& word);

// The word of a language model that a spelling spells; empty if it spells none.
std::string spelled_word(const Labels& labels, Unit unit, const Spelling& spelling);

// The trie of the language model's words that can be spelled. If the language model was loaded without its vocabulary,
// `words` or `spellings` are the words to use; those that it does not know are left out. Throws Error if no word is
// left, or if no label separates words.
LexiconTrie build_trie(const Labels& labels, const LanguageModel& language_model, Unit unit, const Spell& spell,
                       const std::vector<std::string>& words);
LexiconTrie build_trie(const Labels& labels, const LanguageModel& language_model, Unit unit,
                       std::vector<Spelling> spellings);

// Throws Error if the language model of characters at this path could write only few of the labels: it cannot write
// word pieces, and letters that are one label with their marks.
void check_labels_are_characters(const Labels& labels, const std::string& path);

// The text of a language model's word in a transcript, and the word of such a text.
std::string word_text(const std::string& word, Unit unit);
std::string text_word(const std::string& text, Unit unit);

// True if `text` is one Unicode character in UTF-8.
bool is_character(const std::string& text);

}  // namespace ctc
