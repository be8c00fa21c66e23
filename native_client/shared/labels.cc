#include "shared/labels.h"

#include <algorithm>

#include "shared/error.h"

namespace ctc {
namespace {

bool is_identity(const std::vector<Label>& columns) {
  for (std::size_t label = 0; label < columns.size(); ++label) {
    if (columns[label] != label) return false;
  }
  return true;
}

// In sorted order, all texts that begin with a text follow it.
bool one_begins_another(std::vector<std::string> texts) {
  std::sort(texts.begin(), texts.end());
  for (std::size_t place = 1; place < texts.size(); ++place) {
    if (texts[place].compare(0, texts[place - 1].size(), texts[place - 1]) == 0) return true;
  }
  return false;
}

}  // namespace

Labels::Labels(std::vector<std::string> texts) : Labels(std::move(texts), {}, 0) {}

Labels::Labels(std::vector<std::string> texts, std::vector<Label> columns, std::size_t column_count)
    : texts_(std::move(texts)), columns_(std::move(columns)), column_count_(column_count) {
  if (texts_.empty()) throw Error("the decoder needs at least one label beside the blank");
  if (columns_.empty()) column_count_ = texts_.size();
  if (!columns_.empty() && columns_.size() != texts_.size()) {
    throw Error("there are " + std::to_string(columns_.size()) + " columns for " + std::to_string(texts_.size()) +
                " labels");
  }
  for (std::size_t index = 0; index < texts_.size(); ++index) {
    const std::string& text = texts_[index];
    const auto label = static_cast<Label>(index);
    if (text.empty()) throw Error("label " + std::to_string(index) + " is empty");
    if (text.find('\0') != std::string::npos) {
      throw Error("label " + std::to_string(index) + " has a NUL byte, which would end texts in C");
    }
    check_column(label);
    by_text_[text].push_back(label);
    longest_ = std::max(longest_, text.size());
    if (text == " ") {
      delimiter_ = label;
    } else if (text.front() == ' ') {
      spell_beginnings_ = true;
    }
  }
  if (column_count_ == texts_.size() && is_identity(columns_)) columns_.clear();
  ambiguous_ = by_text_.size() < texts_.size() || one_begins_another(texts_);
}

// Throws Error if the label's column does not exist, or is that of a label before with the same text.
void Labels::check_column(Label label) const {
  if (column(label) >= column_count_) {
    throw Error("label " + std::to_string(label) + " has column " + std::to_string(column(label)) +
                ", but there are only " + std::to_string(column_count_));
  }
  const auto found = by_text_.find(texts_[label]);
  if (found == by_text_.end()) return;
  for (const Label other : found->second) {
    if (!columns_.empty() && column(other) != column(label) && texts_[label] != " ") continue;
    throw Error("labels " + std::to_string(other) + " and " + std::to_string(label) + " are both '" + texts_[label] +
                "'" + (columns_.empty() ? "" : " of column " + std::to_string(column(label))));
  }
}

std::vector<Spelling> Labels::spell(std::string_view text) const {
  std::vector<Spelling> spellings(1);
  std::string piece;
  while (!text.empty()) {
    auto found = by_text_.end();
    for (std::size_t length = std::min(longest_, text.size()); length > 0 && found == by_text_.end(); --length) {
      piece.assign(text.substr(0, length));
      found = by_text_.find(piece);
    }
    if (found == by_text_.end()) return {};
    text.remove_prefix(found->first.size());
    const std::vector<Label>& labels = found->second;
    const std::size_t count = spellings.size();
    for (std::size_t other = 1; other < labels.size(); ++other) {
      for (std::size_t place = 0; place < count && spellings.size() < kMostSpellings; ++place) {
        spellings.push_back(spellings[place]);
        spellings.back().push_back(labels[other]);
      }
    }
    for (std::size_t place = 0; place < count; ++place) spellings[place].push_back(labels[0]);
  }
  return spellings;
}

// For each place in a text, including its end, whether labels can spell the rest.
std::vector<bool> Labels::ends_that_can_be_spelled(std::string_view text) const {
  std::vector<bool> can_be(text.size() + 1);
  can_be.back() = true;
  for (std::size_t place = text.size(); place-- > 0;) {
    for (std::size_t length = std::min(longest_, text.size() - place); length > 0 && !can_be[place]; --length) {
      can_be[place] = can_be[place + length] && by_text_.count(std::string(text.substr(place, length)));
    }
  }
  return can_be;
}

std::vector<Spelling> Labels::spell_in_all_ways(std::string_view text) const {
  const std::vector<bool> can_be_spelled = ends_that_can_be_spelled(text);
  const std::size_t most = std::clamp<std::size_t>(kMostSpelled / (text.size() + 1), 1, kMostSpellings);
  std::vector<Spelling> spellings;
  Spelling way;
  std::size_t place = 0, longest = longest_;  // where `way` ends, and the most bytes of the next label
  while (spellings.size() < most) {
    auto found = by_text_.end();
    for (std::size_t length = std::min(longest, text.size() - place); length > 0 && found == by_text_.end(); --length) {
      if (can_be_spelled[place + length]) found = by_text_.find(std::string(text.substr(place, length)));
    }
    if (found != by_text_.end()) {
      way.push_back(found->second.front());
      place += found->first.size();
      longest = longest_;
      if (place < text.size()) continue;
      spellings.push_back(way);
    }
    if (way.empty()) break;
    longest = texts_[way.back()].size() - 1;  // next, try a shorter label in place of the last one
    place -= longest + 1;
    way.pop_back();
  }
  return spellings;
}

std::string Labels::join(const Spelling& spelling) const {
  std::string text;
  for (const Label label : spelling) text += texts_[label];
  return text;
}

}  // namespace ctc
