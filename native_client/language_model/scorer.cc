#include "language_model/scorer.h"

#include <algorithm>

#include "language_model/package_alphabet.h"
#include "language_model/trie_file.h"
#include "shared/error.h"

namespace ctc {
namespace {

// A package may have words that its language model does not know, but not more than it knows.
constexpr std::size_t kWordsPerKnownWord = 2;

}  // namespace

Scorer::Scorer(const Labels& labels, const std::string& language_model_path, Unit unit, Spell spell)
    : labels_(labels),
      language_model_(language_model_path, LanguageModel::Vocabulary::kLoad),
      unit_(unit),
      spell_(std::move(spell)),
      trie_(load_trie()) {
  language_model_.close_file();
  check_unit();
}

Scorer::Scorer(const Labels& labels, const std::string& language_model_path, const std::string& trie_path, Spell spell)
    : labels_(labels),
      language_model_(language_model_path, LanguageModel::Vocabulary::kSkip),
      unit_(Unit::kWord),
      spell_(std::move(spell)),
      trie_(read_trie_file(trie_path, labels_, language_model_, unit_)) {
  language_model_.close_file();
  check_unit();
}

std::vector<std::string> Scorer::words_of(const std::string& text) const {
  if (unit_ == Unit::kCharacter && language_model_.index(text) != 0) return {text};
  std::vector<std::string> words;
  for (std::size_t begin = 0, end = 0; begin < text.size(); begin = end) {
    if (unit_ == Unit::kWord) {
      begin = std::min(text.find_first_not_of(' ', begin), text.size());
      end = std::min(text.find(' ', begin), text.size());
      if (begin < end) words.push_back(text.substr(begin, end - begin));
    } else {
      end = begin + 1;
      while (end < text.size() && !is_character(text.substr(end, 1))) ++end;
      words.push_back(text_word(text.substr(begin, end - begin), unit_));
    }
  }
  return words;
}

std::vector<Spelling> Scorer::spellings_of(const std::string& word) const {
  std::call_once(indexed_, [this] { index_nodes(); });
  std::vector<Spelling> spellings;
  const Word index = language_model_.index(word);
  if (language_model_.is_special(index)) return unit_ == Unit::kWord ? spellings_of_other(word) : spellings;
  for (std::uint32_t place = begins_of_words_[index]; place < begins_of_words_[index + 1]; ++place) {
    spellings.push_back(trie_.spelling(nodes_of_words_[place]));
  }
  if (spellings.empty() && unit_ == Unit::kWord) return spellings_of_other(word);
  return spellings;
}

// The spellings of a word that is not in the trie. If a tokenizer cut the words into pieces, but is not available here,
// all segmentations of this word are possible.
std::vector<Spelling> Scorer::spellings_of_other(const std::string& word) const {
  if (!spell_ && labels_.spell_beginnings()) return labels_.spell_in_all_ways(" " + word);
  return spell_word(labels_, unit_, spell_, word);
}

bool Scorer::can_spell(const std::string& text) const {
  const std::vector<std::string> words = words_of(text);
  const auto can_be_spelled = [this](const std::string& word) { return !spellings_of(word).empty(); };
  return !words.empty() && std::all_of(words.begin(), words.end(), can_be_spelled);
}

UnspelledWords Scorer::unspelled_words() const {
  const std::vector<std::string>& words = language_model_.words();
  std::vector<bool> spelled(words.size());
  if (!words.empty()) {
    for (std::size_t node = 0; node < trie_.size(); ++node) {
      if (const Word word = trie_.nodes()[node].word; word < words.size()) spelled[word] = true;
    }
  }
  UnspelledWords unspelled;
  for (Word word = 0; word < words.size(); ++word) {
    if (language_model_.is_special(word)) continue;
    ++unspelled.of;
    if (!spelled[word] && ++unspelled.count == 1) unspelled.example = word_text(words[word], unit_);
  }
  return unspelled;
}

void Scorer::index_nodes() const {
  begins_of_words_.assign(language_model_.size() + 1, 0);
  const TrieNode* const nodes = trie_.nodes();
  const auto size = static_cast<std::uint32_t>(trie_.size());
  for (std::uint32_t node = 0; node < size; ++node) {
    if (nodes[node].word != TrieNode::kNoWord) ++begins_of_words_[nodes[node].word];
  }
  std::uint32_t end = 0;
  for (std::uint32_t& begin : begins_of_words_) begin = end += begin;
  nodes_of_words_.resize(end);
  for (std::uint32_t node = size; node-- > 0;) {
    if (nodes[node].word != TrieNode::kNoWord) nodes_of_words_[--begins_of_words_[nodes[node].word]] = node;
  }
}

void Scorer::check_unit() const {
  if (unit_ == Unit::kCharacter) check_labels_are_characters(labels_, language_model_.path());
}

LexiconTrie Scorer::load_trie() {
  const std::string& path = language_model_.path();
  const std::vector<std::string>& words = language_model_.words();
  if (!words.empty()) {
    check_unit();  // before the labels spell characters
    return build_trie(labels_, language_model_, unit_, spell_, words);
  }
  if (!language_model_.file()) throw Error(path + " has no words");
  try {
    const std::size_t most_words = kWordsPerKnownWord * language_model_.size();
    auto trailer = read_package_trailer(*language_model_.file(), language_model_.binary_size(), labels_, most_words);
    if (trailer) {
      unit_ = trailer->unit;
      package_defaults_ = trailer->defaults;
      return trie_of_package(std::move(*trailer));
    }
  } catch (const Error& error) {
    throw Error(path + " cannot be used as a scorer package: " + error.what());
  }
  throw Error(path + " has no vocabulary; build the binary without the option -v, or give the trie file of its words");
}

LexiconTrie Scorer::trie_of_package(PackageTrailer trailer) const {
  std::vector<std::string> words;
  for (const Spelling& spelling : trailer.words) words.push_back(spelled_word(labels_, unit_, spelling));
  if (const std::string why = find_other_alphabet(labels_, language_model_, trailer, words); !why.empty()) {
    throw Error(why + "; it was made for another alphabet");
  }
  if (unit_ == Unit::kWord) return build_trie(labels_, language_model_, unit_, std::move(trailer.words));
  return build_trie(labels_, language_model_, unit_, nullptr, words);
}

}  // namespace ctc
