#include "c_api/recognition/words.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <string_view>
#include <utility>

#include "c_api/recognition/scripts.h"
#include "shared/utf8.h"

namespace speech {
namespace {

constexpr std::size_t kRivals = 4;        // labels that are kept of each row, as what else may have been said
constexpr std::uint32_t kRowsAfter = 5;   // a word's last label that still show how sure the network is of it
constexpr std::uint32_t kLetterRows = 6;  // after a letter's last label; see deepspeech/decoder/hypotheses.py
constexpr double kLongestGap = 0.5;       // seconds between two labels of a word; see deepspeech/serving/transcripts.py
constexpr double kLongestPhrase = 6;      // seconds of a phrase of a text without spaces
constexpr double kSmallestProbability = 1e-4;

double logit(double probability) {
  const double bounded = std::clamp(probability, kSmallestProbability, 1 - kSmallestProbability);
  return std::log(bounded / (1 - bounded));
}

double confidence(const Calibration& calibration, double agreement, double clarity) {
  const double weighted = calibration.agreement * logit(agreement) + calibration.clarity * logit(clarity);
  return 1 / (1 + std::exp(-(calibration.bias + weighted)));
}

// The places of the labels of a word in its result.
std::pair<std::size_t, std::size_t> labels_of(const Word& word, const ctc::Result& result) {
  const auto place = [&](std::uint32_t row) {
    const auto found = std::lower_bound(result.frames.begin(), result.frames.end(), row);
    return static_cast<std::size_t>(found - result.frames.begin());
  };
  return {place(word.start), place(word.end)};
}

bool is_unspaced(std::string_view text) {
  while (!text.empty()) {
    if (written_without_spaces(shared::take_character(text))) return true;
  }
  return false;
}

// The place after the widest gap between the labels at some places, the middle one of equals; `begin` if there is none.
std::size_t after_widest_gap(const std::vector<std::uint32_t>& frames, const std::vector<std::size_t>& places,
                             std::size_t begin, std::size_t end) {
  const auto rank = [&](std::size_t place) {
    const std::uint32_t gap = frames[places[place]] - frames[places[place - 1]];
    return std::pair(gap, std::min(place - begin, end - place));
  };
  std::size_t best = begin;
  for (std::size_t place = begin + 1; place < end; ++place) {
    if (best == begin || rank(place) >= rank(best)) best = place;
  }
  return best;
}

// The results that have a word, by its text.
class Agreements {
 public:
  Agreements(const std::vector<ctc::Result>& results, const WordReader& reader) {
    double sum = 0;
    for (const ctc::Result& result : results) shares_.push_back(std::exp(result.score - results[0].score));
    for (const double share : shares_) sum += share;
    for (double& share : shares_) share /= sum;
    for (std::size_t number = 0; number < results.size(); ++number) {
      for (const Word& word : reader.words(results[number])) {
        for (const Word& part : reader.parts(word, results[number])) {
          found_[part.text][number].push_back({part.start, part.end});
        }
      }
    }
  }

  // The share of the results, by probability, that have the word at an overlapping time.
  double of(const Word& word) const {
    double share = 0;
    const auto found = found_.find(word.text);
    if (found == found_.end()) return 0;  // of a result after those that are compared
    for (const auto& [number, times] : found->second) {
      const auto ends_after = [](std::uint32_t row, const Time& time) { return row < time.end; };
      const auto first = std::upper_bound(times.begin(), times.end(), word.start, ends_after);
      if (first != times.end() && first->start < word.end) share += shares_[number];
    }
    return std::min(share, 1.0);
  }

 private:
  struct Time {
    std::uint32_t start, end;
  };

  std::vector<double> shares_;
  std::map<std::string, std::map<std::size_t, std::vector<Time>>> found_;  // the times of a text in each result
};

}  // namespace

void Rivals::feed(const std::vector<float>& posteriors, std::size_t columns) {
  const std::size_t labels = columns - 1;
  kept_ = std::min(kRivals, labels);
  std::vector<Rival> row(labels);
  for (std::size_t begin = 0; begin < posteriors.size(); begin += columns) {
    for (std::size_t label = 0; label < labels; ++label) {
      row[label] = {static_cast<ctc::Label>(label), posteriors[begin + label]};
    }
    const auto end = row.begin() + static_cast<std::ptrdiff_t>(kept_);
    std::partial_sort(row.begin(), end, row.end(),
                      [](const Rival& a, const Rival& b) { return a.probability > b.probability; });
    rivals_.insert(rivals_.end(), row.begin(), end);
  }
}

WordReader::WordReader(std::vector<std::string> labels, double row_seconds)
    : labels_(std::move(labels)), row_seconds_(row_seconds) {
  divides_words_ = std::any_of(labels_.begin(), labels_.end(), [](const auto& label) { return label[0] == ' '; });
}

void WordReader::leave_out_unfinished(ctc::Result& result) const {
  std::string bytes;
  for (std::size_t place = result.labels.size(); place-- > 0;) {
    const std::string& label = labels_[result.labels[place]];
    bytes.insert(0, label);
    if (shared::is_within_character(label)) continue;
    if (shared::is_unfinished(bytes)) {
      result.labels.resize(place);
      result.frames.resize(place);
    }
    return;
  }
}

std::vector<Word> WordReader::words(const ctc::Result& result) const {
  std::vector<Word> words;
  const std::size_t count = result.labels.size();
  for (std::size_t begin = 0, end = 0; begin < count; begin = end) {
    for (end = begin + 1; end < count && labels_[result.labels[end]].front() != ' ';) ++end;
    const std::size_t first = is_space(result.labels[begin]) ? begin + 1 : begin;
    if (first == end) continue;
    words.push_back({text(result, first, end), result.frames[first], result.frames[end - 1] + 1});
  }
  return words;
}

std::vector<std::vector<TimedWord>> WordReader::timed_words(const std::vector<ctc::Result>& results, std::size_t count,
                                                            const Rivals& rivals,
                                                            const Calibration& calibration) const {
  if (results.empty()) return {};
  const auto last = results.begin() + static_cast<std::ptrdiff_t>(std::min(results.size(), kHypotheses));
  const Agreements agreements({results.begin(), last}, *this);
  std::vector<std::vector<TimedWord>> timed_words;
  for (std::size_t number = 0; number < std::min(count, results.size()); ++number) {
    const ctc::Result& result = results[number];
    const std::vector<Word> found = words(result);
    std::vector<Word> all;
    for (const Word& word : found) {
      const std::vector<Word> of_word = parts(word, result);
      all.insert(all.end(), of_word.begin(), of_word.end());
    }
    std::vector<double> sure;
    for (std::size_t place = 0; place < all.size(); ++place) {
      const double share = agreements.of(all[place]);
      sure.push_back(confidence(calibration, share, clarity(result, all, place, rivals)));
      // The calibration is of the best result's words; others that most results lack are not as probable as it says.
      if (number > 0 && share < 0.5) sure.back() = std::min(sure.back(), share);
    }
    timed_words.emplace_back();
    std::size_t place = 0;  // of the first part that is not in an earlier word or phrase
    for (const Word& word : found) {
      for (Word& part : said(word, result)) {
        double lowest = sure[place++];
        for (; place < all.size() && all[place].start < part.end; ++place) lowest = std::min(lowest, sure[place]);
        timed_words.back().push_back({std::move(part.text), part.start * row_seconds_, part.end * row_seconds_, lowest});
      }
    }
  }
  return timed_words;
}

// 1 minus the highest probability, in a word's rows, of a label that the word does not have.
double WordReader::clarity(const ctc::Result& result, const std::vector<Word>& words, std::size_t place,
                           const Rivals& rivals) const {
  const Word& word = words[place];
  const auto [first, last] = labels_of(word, result);
  std::uint32_t end = word.end + kRowsAfter;
  if (place + 1 < words.size()) end = std::min(end, std::max(words[place + 1].start, word.end));
  const auto own = result.labels.begin();
  return 1 - rivals.highest(word.start, end, [&, begin = first, stop = last](ctc::Label label) {
    const auto from = own + static_cast<std::ptrdiff_t>(begin), to = own + static_cast<std::ptrdiff_t>(stop);
    return is_space(label) || std::find(from, to, label) != to;
  });
}

std::vector<Word> WordReader::parts(const Word& word, const ctc::Result& result) const {
  if (divides_words_ && !is_unspaced(word.text)) return {word};
  const auto [first, last] = labels_of(word, result);
  std::vector<std::size_t> begins = letter_begins(result, first, last);
  begins.push_back(last);
  std::vector<Word> letters;
  for (std::size_t place = 0; place + 1 < begins.size(); ++place) {
    const std::size_t begin = begins[place], end = begins[place + 1];
    std::uint32_t until = result.frames[end - 1] + 1 + kLetterRows;
    if (end < last) until = std::min(until, result.frames[end]);
    letters.push_back({text(result, begin, end), result.frames[begin], until});
  }
  return letters;
}

// A word, or the phrases of a text without spaces, at the time when it is said.
std::vector<Word> WordReader::said(const Word& word, const ctc::Result& result) const {
  if (!divides_words_ || is_unspaced(word.text)) return phrases(word, result);
  return {spoken(word, result)};
}

// The time of a word is that of most of its labels without a long gap.
Word WordReader::spoken(const Word& word, const ctc::Result& result) const {
  const std::uint32_t longest_gap = rows(kLongestGap);
  const auto [first, last] = labels_of(word, result);
  std::size_t begin = first, best = first, best_end = first;
  for (std::size_t place = first; place < last; ++place) {
    if (place > first && result.frames[place] - result.frames[place - 1] > longest_gap) begin = place;
    if (place + 1 - begin >= best_end - best) {
      best = begin;
      best_end = place + 1;
    }
  }
  return {word.text, result.frames[best], result.frames[best_end - 1] + 1};
}

// The phrases of a text without spaces, in place of words: the text is cut at each long gap, and then at the widest
// gaps until no part is too long.
std::vector<Word> WordReader::phrases(const Word& word, const ctc::Result& result) const {
  const auto [first, last] = labels_of(word, result);
  std::vector<std::size_t> places = letter_begins(result, first, last);
  std::vector<std::pair<std::size_t, std::size_t>> waiting{{0, places.size()}};
  places.push_back(last);
  std::vector<Word> phrases;
  while (!waiting.empty()) {
    const auto [begin, end] = waiting.back();
    waiting.pop_back();
    const std::uint32_t start = result.frames[places[begin]], stop = result.frames[places[end] - 1] + 1;
    const std::size_t cut = after_widest_gap(result.frames, places, begin, end);
    const std::uint32_t gap = cut == begin ? 0 : result.frames[places[cut]] - result.frames[places[cut - 1]];
    if (gap > rows(kLongestGap) || (gap > 0 && stop - start > rows(kLongestPhrase))) {
      waiting.insert(waiting.end(), {{cut, end}, {begin, cut}});
    } else {
      phrases.push_back({text(result, places[begin], places[end]), start, stop});
    }
  }
  return phrases;
}

// The places of labels where letters begin, leaving out their further bytes and their combining marks.
std::vector<std::size_t> WordReader::letter_begins(const ctc::Result& result, std::size_t first,
                                                   std::size_t last) const {
  std::vector<std::size_t> places;
  for (std::size_t place = first, end = first; place < last; place = end) {
    std::string bytes = labels_[result.labels[place]];
    for (end = place + 1; end < last && shared::is_within_character(labels_[result.labels[end]]); ++end) {
      bytes += labels_[result.labels[end]];
    }
    std::string_view character = bytes;
    const bool goes_on = shared::first_character(character).valid && is_mark(shared::take_character(character));
    if (place == first || !goes_on) places.push_back(place);
  }
  return places;
}

// The text of labels, without the space before it.
std::string WordReader::text(const ctc::Result& result, std::size_t first, std::size_t last) const {
  std::string bytes;
  for (std::size_t place = first; place < last; ++place) bytes += labels_[result.labels[place]];
  const std::string text = shared::as_utf8(bytes);
  return text.substr(text.front() == ' ' ? 1 : 0);
}

}  // namespace speech
