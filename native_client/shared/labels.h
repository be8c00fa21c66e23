// The output labels of an acoustic model. The blank has no text; it is one past the last label.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace ctc {

using Label = std::uint32_t;

class Labels {
 public:
  static constexpr Label kNone = 0xFFFFFFFF;

  // Throws Error if `texts` is empty, or has an empty or repeated text.
  explicit Labels(std::vector<std::string> texts);

  std::size_t size() const { return texts_.size(); }
  Label blank() const { return static_cast<Label>(texts_.size()); }

  // The label that separates words, " ", or kNone.
  Label delimiter() const { return delimiter_; }

  const std::string& text(Label label) const { return texts_[label]; }
  const std::vector<std::string>& texts() const { return texts_; }

  // Appends the labels that spell `text`, the longest first, to `spelling`. False if a part of it has no label.
  bool spell(std::string_view text, std::vector<Label>& spelling) const;

 private:
  std::vector<std::string> texts_;
  std::unordered_map<std::string, Label> by_text_;
  std::size_t longest_ = 0;  // bytes
  Label delimiter_ = kNone;
};

}  // namespace ctc
