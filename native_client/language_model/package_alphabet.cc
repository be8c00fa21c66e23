#include "language_model/package_alphabet.h"

#include <algorithm>

namespace ctc {
namespace {

// Scripts from this first byte on (Thai, Chinese and others) are mostly written without spaces between words.
constexpr unsigned char kFirstByteWithoutSpaces = 0xE0;

// A label whose words are mostly unknown counts only if it has at least this many words.
constexpr std::size_t kFewWords = 4;

// If the language model has words that the package lacks, at most one of this many words may be unknown to it.
constexpr std::size_t kWordsPerUnknownWord = 20;

// Special words of a language model: the unknown word, and the markers of a sentence's beginning and end.
constexpr std::size_t kSpecialWords = 3;

std::string counts(std::size_t some, std::size_t all) { return std::to_string(some) + " of " + std::to_string(all); }

bool spell_bytes(const Labels& labels) {
  const auto is_part = [](const std::string& text) {
    return text.size() == 1 && static_cast<unsigned char>(text.front()) >= 0x80;
  };
  return std::any_of(labels.texts().begin(), labels.texts().end(), is_part);
}

std::string find_other_characters(const Labels& labels, const PackageTrailer& package,
                                  const std::vector<std::string>& characters) {
  const std::size_t all = characters.size() + package.unspelled;
  if (2 * characters.size() < all) {
    return "it is of characters, of which these labels spell only " + counts(characters.size(), all);
  }
  if (labels.delimiter() == Labels::kNone || spell_bytes(labels)) return "";
  const auto has_spaces = [](const std::string& text) {
    return static_cast<unsigned char>(text.front()) < kFirstByteWithoutSpaces;
  };
  const auto spaced = static_cast<std::size_t>(std::count_if(characters.begin(), characters.end(), has_spaces));
  const bool has_space = std::find(characters.begin(), characters.end(), text_word(" ", Unit::kCharacter)) != characters.end();
  if (has_space || 2 * spaced < characters.size()) return "";
  return "it is of characters without a space, as for models of bytes, but these labels have a space between words";
}

// A label that its words should not have: most of them are unknown, but words without it are known.
std::string find_other_label(const Labels& labels, const PackageTrailer& package, const std::vector<bool>& known) {
  std::vector<std::size_t> all(labels.size()), unknown(labels.size());
  for (std::size_t word = 0; word < known.size(); ++word) {
    Spelling spelling = package.words[word];
    std::sort(spelling.begin(), spelling.end());
    spelling.erase(std::unique(spelling.begin(), spelling.end()), spelling.end());
    for (const Label label : spelling) {
      ++all[label];
      if (!known[word]) ++unknown[label];
    }
  }
  for (Label label = 0; label < labels.size(); ++label) {
    if (all[label] < kFewWords || 2 * unknown[label] <= all[label]) continue;
    return "its language model does not know " + counts(unknown[label], all[label]) + " words with '" +
           labels.text(label) + "' as these labels spell them";
  }
  return "";
}

}  // namespace

std::string find_other_alphabet(const Labels& labels, const LanguageModel& language_model,
                                const PackageTrailer& package, const std::vector<std::string>& words) {
  if (package.unit == Unit::kCharacter) return find_other_characters(labels, package, words);
  std::vector<bool> known, covered(language_model.size());
  for (const std::string& word : words) {
    const Word index = language_model.index(word);
    known.push_back(index != 0);
    covered[index] = true;
  }
  const auto known_count = static_cast<std::size_t>(std::count(known.begin(), known.end(), true));
  const std::size_t unknown_count = known.size() - known_count;
  const auto covered_count = static_cast<std::size_t>(std::count(covered.begin() + 1, covered.end(), true));
  const bool has_other_words = covered_count + kSpecialWords < language_model.size();
  const bool are_many = kWordsPerUnknownWord * unknown_count > known.size();
  if (unknown_count > known_count || (has_other_words && are_many)) {
    return "it has " + std::to_string(words.size()) + " words, but its language model knows " +
           std::to_string(known_count) + " of them as these labels spell them";
  }
  return has_other_words ? find_other_label(labels, package, known) : "";
}

}  // namespace ctc
