#include "c_api/recognition/scorers.h"

#include <algorithm>
#include <string_view>

#include "c_api/recognition/scripts.h"
#include "shared/error.h"
#include "shared/utf8.h"

namespace speech {
namespace {

bool is_special(const std::string& word) {
  return word == "<unk>" || word == "<UNK>" || word == "<s>" || word == "</s>";
}

}  // namespace

std::shared_ptr<const ctc::Scorer> load_scorer(const ctc::Labels& labels, const std::string& path) {
  try {
    auto scorer = std::make_shared<const ctc::Scorer>(labels, path, ctc::Unit::kWord);
    if (!is_of_characters(scorer->language_model().words(), labels)) return scorer;
  } catch (const ctc::Error&) {  // its characters may be none of the alphabet's words
    if (!is_of_characters(ctc::LanguageModel(path, ctc::LanguageModel::Vocabulary::kLoad).words(), labels)) throw;
  }
  return std::make_shared<const ctc::Scorer>(labels, path, ctc::Unit::kCharacter);
}

bool is_of_characters(const std::vector<std::string>& vocabulary, const ctc::Labels& labels) {
  bool has_space = false;
  std::size_t letters = 0, unspaced = 0;
  for (const std::string& word : vocabulary) {
    has_space = has_space || word == "<space>";
    if (word == "<space>" || is_special(word)) continue;
    std::string_view left = word;
    if (!shared::is_utf8(word) || word.empty()) return false;
    const char32_t code = shared::take_character(left);
    if (!left.empty()) return false;
    ++letters;
    unspaced += written_without_spaces(code);
  }
  const auto& texts = labels.texts();
  const bool parted = labels.part_words() && std::all_of(texts.begin(), texts.end(), shared::is_utf8);  // not bytes
  return letters > 0 && (has_space || !parted || 2 * unspaced > letters);
}

}  // namespace speech
