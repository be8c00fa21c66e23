// From hypotheses to transcripts.
#include <algorithm>

#include "log_math.h"
#include "search.h"

namespace ctc {
namespace {

struct Finalist {
  std::uint32_t slot;
  float score;
  float lm_score;
};

}  // namespace

// The total of every hypothesis; those that differ by a delimiter at the end are one transcript, so the longer one's is
// added to the shorter one's.
std::vector<float> Search::merged_totals() const {
  std::vector<float> totals;
  for (const Hypothesis& hypothesis : beam_) totals.push_back(hypothesis.total);
  if (!scorer_) return totals;
  for (std::size_t slot = 0; slot < beam_.size(); ++slot) {
    if (beam_[slot].last != labels_.delimiter()) continue;
    const std::uint32_t shorter = tree_[beam_[slot].parent].slot;
    if (shorter == kNowhere) continue;
    totals[shorter] = log_add(totals[shorter], totals[slot]);
    totals[slot] = kLogZero;
  }
  return totals;
}

std::vector<Result> Search::results(bool complete) const {
  const std::vector<float> totals = merged_totals();
  std::vector<Finalist> finalists, unfinished;
  for (std::uint32_t slot = 0; slot < beam_.size(); ++slot) {
    if (totals[slot] == kLogZero) continue;
    const Hypothesis& hypothesis = beam_[slot];
    Sentence sentence = tree_.sentence(tree_[hypothesis.prefix].sentence);
    const bool in_word = nodes_ && hypothesis.node != LexiconTrie::kRoot;
    const bool is_word = in_word && nodes_[hypothesis.node].word != TrieNode::kNoWord;
    float ahead = 0;
    if (is_word) {
      sentence = complete_word(sentence, nodes_[hypothesis.node].word);
    } else if (in_word) {
      ahead = hypothesis.ahead;
    }
    if (complete && scorer_) {
      LanguageState ignored;
      const LanguageModel& model = scorer_->language_model();
      const float end = model.score(sentence.state, model.sentence_end(), ignored);
      sentence.probability += end;
      sentence.score += options_.lm_weight * end;
    }
    (in_word && !is_word ? unfinished : finalists)
        .push_back({slot, totals[slot] + sentence.score + ahead, sentence.probability});
  }
  if (!complete || finalists.empty()) finalists.insert(finalists.end(), unfinished.begin(), unfinished.end());
  const std::size_t count = std::min(options_.result_count, finalists.size());
  std::partial_sort(finalists.begin(), finalists.begin() + static_cast<std::ptrdiff_t>(count), finalists.end(),
                    [](const Finalist& a, const Finalist& b) { return a.score > b.score; });
  std::vector<Result> results;
  for (std::size_t place = 0; place < count; ++place) {
    const Finalist& finalist = finalists[place];
    results.push_back(result(finalist.slot, offset_ + finalist.score, totals[finalist.slot], finalist.lm_score));
  }
  return results;
}

Result Search::result(std::uint32_t slot, double score, float total, float lm_score) const {
  const Hypothesis& hypothesis = beam_[slot];
  return {tree_.labels(hypothesis.prefix), tree_.frames(hypothesis.arrival), score, offset_ + total, lm_score};
}

}  // namespace ctc
