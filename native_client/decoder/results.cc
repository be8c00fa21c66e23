// Makes transcripts of hypotheses.
#include <algorithm>
#include <string>
#include <unordered_map>

#include "decoder/search.h"
#include "shared/log_math.h"

namespace ctc {

// The total of every hypothesis. Hypotheses that differ only by a delimiter at the end are one transcript, so the total
// of the longer one is added to that of the shorter one.
std::vector<float> Search::merged_totals() const {
  std::vector<float> totals;
  for (const Hypothesis& hypothesis : beam_) totals.push_back(hypothesis.total);
  if (!context_.scorer || context_.scorer->unit() == Unit::kCharacter) return totals;
  for (std::size_t slot = 0; slot < beam_.size(); ++slot) {
    if (beam_[slot].last == Labels::kNone || beam_[slot].last != context_.labels.delimiter()) continue;
    const std::uint32_t shorter = tree_[beam_[slot].parent].slot;
    if (shorter == kNowhere) continue;
    totals[shorter] = log_add(totals[shorter], totals[slot]);
    totals[slot] = kLogZero;
  }
  return totals;
}

std::vector<Result> Search::results(bool complete, std::size_t count) {
  const std::vector<float> totals = merged_totals();
  std::vector<Finalist> finalists;
  for (std::uint32_t slot = 0; slot < beam_.size(); ++slot) {
    if (totals[slot] > kLogZero) finalists.push_back(finalist(slot, totals[slot], complete));
  }
  const auto unfinished = std::stable_partition(finalists.begin(), finalists.end(),
                                                [](const Finalist& finalist) { return !finalist.unfinished; });
  if (complete && unfinished != finalists.begin()) finalists.erase(unfinished, finalists.end());
  const auto better = [](const Finalist& a, const Finalist& b) { return a.score > b.score; };
  std::stable_sort(finalists.begin(), finalists.end(), better);
  if (context_.labels.ambiguous()) {
    merge_texts(finalists);
    std::stable_sort(finalists.begin(), finalists.end(), better);
  }
  finalists.resize(std::min(count, finalists.size()));
  std::vector<Result> results;
  // The best last, as the tree keeps its path, which the best of the next results has mostly in common with it.
  for (auto finalist = finalists.rbegin(); finalist != finalists.rend(); ++finalist) results.push_back(result(*finalist));
  std::reverse(results.begin(), results.end());
  return results;
}

Search::Finalist Search::finalist(std::uint32_t slot, float total, bool complete) const {
  const Hypothesis& hypothesis = beam_[slot];
  if (!context_.scorer) return {slot, total, total, 0, false};
  Sentence words = sentence(hypothesis);
  const std::uint32_t node = hypothesis.node;
  const bool in_word = node != LexiconTrie::kRoot && hypothesis.last != context_.labels.delimiter();
  const bool is_known = in_word && context_.word(node) != TrieNode::kNoWord;
  const bool is_word = is_known || (in_word && context_.unknown_score > kLogZero);
  if (is_word) words = complete_word(words, node);
  if (in_word && !is_word) words.score += hypothesis.ahead;
  if (complete) words.score -= context_.hot_words.advance(words.phrase);
  if (complete && context_.options.sentence_end) {
    const LanguageModel& language_model = context_.scorer->language_model();
    LanguageState ignored;
    const float end = language_model.score(words.state, language_model.sentence_end(), ignored);
    words.probability += end;
    words.score += context_.weighted(end);
  }
  return {slot, total, total + words.score, words.probability, in_word && !is_word};
}

// The text of a finalist, without a space at its beginning or end.
std::string Search::text(const Finalist& finalist) {
  std::string text = context_.labels.join(tree_.labels(beam_[finalist.slot].prefix));
  const bool has_words = context_.scorer && context_.scorer->unit() == Unit::kWord;
  if (!has_words && !context_.labels.spell_beginnings()) return text;
  const std::size_t begin = std::min(text.find_first_not_of(' '), text.size());
  return text.substr(begin, text.find_last_not_of(' ') + 1 - begin);
}

// Keeps the best of the finalists with the same text, which are sorted best first; its probability becomes the sum of
// theirs. They have the same words, so the same language-model score.
void Search::merge_texts(std::vector<Finalist>& finalists) {
  std::unordered_map<std::string, std::size_t> places;
  std::vector<Finalist> merged;
  for (const Finalist& finalist : finalists) {
    const auto [place, added] = places.emplace(text(finalist), merged.size());
    if (added) {
      merged.push_back(finalist);
      continue;
    }
    Finalist& best = merged[place->second];
    const float total = log_add(best.total, finalist.total);
    best.score += total - best.total;
    best.total = total;
  }
  finalists = std::move(merged);
}

Result Search::result(const Finalist& finalist) {
  const Hypothesis& hypothesis = beam_[finalist.slot];
  return {tree_.labels(hypothesis.prefix), tree_.frames(hypothesis.arrival), offset_ + finalist.score,
          offset_ + finalist.total, finalist.lm_score};
}

}  // namespace ctc
