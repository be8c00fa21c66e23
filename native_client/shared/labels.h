// The output labels of a search, and the columns of the acoustic model's output that they are read from.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace ctc {

using Label = std::uint32_t;
using Spelling = std::vector<Label>;

// Each label has a text and a column; several may share a column (homophones: one syllable, many characters), and
// several may share a text (the readings of one character). The blank has no text; its column is the last.
//
// Words begin at a label whose text begins with a space. If " " itself is the only such label, the delimiter, words are
// spelled without it. If there are others, say " the", words are spelled with the label that begins them.
class Labels {
 public:
  static constexpr Label kNone = 0xFFFFFFFF;

  // The most spellings of one text, and the most labels in all of them together if there are several; further spellings
  // are left out.
  static constexpr std::size_t kMostSpellings = 256, kMostSpelled = std::size_t{1} << 12;

  // Every label has a column of its own. Throws Error if `texts` is empty, or has an empty or repeated text, or one with
  // a NUL byte.
  explicit Labels(std::vector<std::string> texts);

  // Label n is read from column columns[n] of `column_count` columns, without the blank's. Throws Error if `texts` is
  // empty, or has an empty text or one with a NUL byte, if a column is out of range, or if two labels have the same text
  // and column, or are both " ".
  Labels(std::vector<std::string> texts, std::vector<Label> columns, std::size_t column_count);

  std::size_t size() const { return texts_.size(); }
  const std::string& text(Label label) const { return texts_[label]; }
  const std::vector<std::string>& texts() const { return texts_; }

  // The columns of the posteriors, without the blank's.
  std::size_t column_count() const { return column_count_; }
  Label column(Label label) const { return columns_.empty() ? label : columns_[label]; }

  // Empty if each label n is column n.
  const std::vector<Label>& columns() const { return columns_; }

  // Whether different labels may spell the same text: two labels have one text, or one label's text begins with
  // another's.
  bool ambiguous() const { return ambiguous_; }

  // The label " ", or kNone.
  Label delimiter() const { return delimiter_; }

  bool begins_word(Label label) const { return texts_[label].front() == ' '; }

  // Whether words are spelled with the label that begins them.
  bool spell_beginnings() const { return spell_beginnings_; }

  // Whether the labels show where words begin.
  bool part_words() const { return delimiter_ != kNone || spell_beginnings_; }

  // The spellings of `text` by the longest labels that fit: several if several labels have the text of a part, none if
  // a part has no label.
  std::vector<Spelling> spell(std::string_view text) const;

  // All ways in which labels can spell `text`, those by the longest labels first. Of labels with the same text, only
  // the first is used.
  std::vector<Spelling> spell_in_all_ways(std::string_view text) const;

  // The text that the labels spell.
  std::string join(const Spelling& spelling) const;

  bool operator==(const Labels& other) const {
    return texts_ == other.texts_ && columns_ == other.columns_ && column_count_ == other.column_count_;
  }
  bool operator!=(const Labels& other) const { return !(*this == other); }

 private:
  void check_column(Label label) const;
  std::vector<bool> ends_that_can_be_spelled(std::string_view text) const;

  std::vector<std::string> texts_;
  std::vector<Label> columns_;
  std::size_t column_count_;
  std::unordered_map<std::string, std::vector<Label>> by_text_;
  std::size_t longest_ = 0;  // bytes
  Label delimiter_ = kNone;
  bool spell_beginnings_ = false;
  bool ambiguous_ = false;
};

}  // namespace ctc
