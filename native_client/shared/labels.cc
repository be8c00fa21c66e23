#include "shared/labels.h"

#include <algorithm>

#include "shared/error.h"

namespace ctc {

Labels::Labels(std::vector<std::string> texts) : texts_(std::move(texts)) {
  if (texts_.empty()) throw Error("the decoder needs at least one label beside the blank");
  for (std::size_t index = 0; index < texts_.size(); ++index) {
    const std::string& text = texts_[index];
    const auto label = static_cast<Label>(index);
    if (text.empty()) throw Error("label " + std::to_string(index) + " is empty");
    const auto [place, added] = by_text_.emplace(text, label);
    if (!added) {
      throw Error("labels " + std::to_string(place->second) + " and " + std::to_string(index) + " are both '" + text +
                  "'");
    }
    longest_ = std::max(longest_, text.size());
    if (text == " ") delimiter_ = label;
  }
}

bool Labels::spell(std::string_view text, std::vector<Label>& spelling) const {
  std::string piece;
  while (!text.empty()) {
    auto found = by_text_.end();
    for (std::size_t length = std::min(longest_, text.size()); length > 0 && found == by_text_.end(); --length) {
      piece.assign(text.substr(0, length));
      found = by_text_.find(piece);
    }
    if (found == by_text_.end()) return false;
    spelling.push_back(found->second);
    text.remove_prefix(found->first.size());
  }
  return true;
}

}  // namespace ctc
