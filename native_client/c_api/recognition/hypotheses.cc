#include "c_api/recognition/hypotheses.h"

#include <algorithm>
#include <utility>

#include "shared/utf8.h"

namespace speech {
namespace {

// The words of a text with one space between any two.
std::string with_single_spaces(const std::string& text) {
  std::string words;
  for (std::size_t begin = 0, end = 0; begin < text.size(); begin = end + 1) {
    end = std::min(text.find(' ', begin), text.size());
    if (begin == end) continue;
    if (!words.empty()) words += ' ';
    words.append(text, begin, end - begin);
  }
  return words;
}

std::string without_outer_spaces(const std::string& text) {
  const std::size_t begin = text.find_first_not_of(' ');
  return begin == std::string::npos ? "" : text.substr(begin, text.find_last_not_of(' ') + 1 - begin);
}

// Removes the spaces at both ends, which the text leaves out, so that the tokens spell it.
void drop_outer_spaces(std::vector<Token>& tokens) {
  const auto is_spoken = [](const Token& token) { return !without_outer_spaces(token.text).empty(); };
  tokens.erase(std::find_if(tokens.rbegin(), tokens.rend(), is_spoken).base(), tokens.end());
  tokens.erase(tokens.begin(), std::find_if(tokens.begin(), tokens.end(), is_spoken));
  if (!tokens.empty()) tokens.front().text = without_outer_spaces(tokens.front().text);
}

}  // namespace

Writer::Writer(std::vector<std::string> labels, bool words_apart)
    : labels_(std::move(labels)), words_apart_(words_apart) {
  for (const std::string& label : labels_) has_pieces_ = has_pieces_ || (label.size() > 1 && label.front() == ' ');
}

std::vector<Hypothesis> Writer::hypotheses(const std::vector<ctc::Result>& results) const {
  std::vector<Hypothesis> all;
  for (const ctc::Result& result : results) {
    Hypothesis hypothesis{text_of(result.labels), result.score, {}};
    std::vector<Token>& tokens = hypothesis.tokens;
    for (std::size_t place = 0; place < result.labels.size(); ++place) {
      const std::string& label = labels_[result.labels[place]];
      if (tokens.empty() || !shared::is_within_character(label)) tokens.push_back({"", result.frames[place]});
      tokens.back().text += label;
    }
    for (Token& token : tokens) token.text = shared::as_utf8(token.text);
    if (words_apart_ || has_pieces_) drop_outer_spaces(tokens);
    all.push_back(std::move(hypothesis));
  }
  return all;
}

std::string Writer::text_of(const std::vector<ctc::Label>& labels) const {
  std::string bytes;
  for (const ctc::Label label : labels) bytes += labels_[label];
  const std::string text = shared::as_utf8(bytes);
  if (words_apart_) return with_single_spaces(text);
  return has_pieces_ ? without_outer_spaces(text) : text;
}

}  // namespace speech
