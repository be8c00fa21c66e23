// The part of the search that scores words, compiled for each of KenLM's data structures.
#include <cmath>
#include <type_traits>

#include "log_math.h"
#include "search.h"

namespace ctc {
namespace {

// Without a language model: every label may follow every other.
class PlainSearch final : public Search {
 public:
  PlainSearch(const Labels& labels, const DecoderOptions& options) : Search(labels, options, nullptr) {}

 private:
  void extend(std::uint32_t source) override {
    const Hypothesis& hypothesis = beam_[source];
    for (const Label label : ranked_) {
      if (!(hypothesis.total + posteriors_[label] > floor_)) return;
      const float total = acoustic(hypothesis, label);
      if (total > floor_ && !in_beam(source, label)) add_candidate({total, total, source, label, LexiconTrie::kRoot});
    }
  }

  Sentence complete_word(const Sentence& before, Word) const override { return before; }
};

// Words of the trie, separated by the delimiter.
template <class Model>
class WordSearch final : public Search {
 public:
  WordSearch(const Labels& labels, const DecoderOptions& options, const Scorer& scorer, const Model& model)
      : Search(labels, options, &scorer), model_(model), root_ahead_(look_ahead(LexiconTrie::kRoot)) {}

 private:
  void extend(std::uint32_t source) override {
    const Hypothesis& hypothesis = beam_[source];
    const TrieNode& node = nodes_[hypothesis.node];
    const std::uint32_t end = nodes_[hypothesis.node + 1].first_child;
    for (std::uint32_t child = node.first_child; child < end; ++child) {
      const Label label = nodes_[child].label;
      const float total = acoustic(hypothesis, label);
      const float rank = total + hypothesis.sentence + look_ahead(child);
      if (rank > floor_ && !in_beam(source, label)) add_candidate({rank, total, source, label, child});
    }
    if (node.word != TrieNode::kNoWord) extend_by_delimiter(source);
  }

  void extend_by_delimiter(std::uint32_t source) {
    Hypothesis& hypothesis = beam_[source];
    const float total = hypothesis.total + posteriors_[labels_.delimiter()];
    const float highest = total + hypothesis.sentence + options_.valid_word_count_weight + root_ahead_;
    if (!(highest > floor_) || in_beam(source, labels_.delimiter())) return;  // as no word has more than ln P = 0
    if (std::isnan(hypothesis.completion)) {
      const Sentence& before = tree_.sentence(tree_[hypothesis.prefix].sentence);
      hypothesis.completion = complete_word(before, nodes_[hypothesis.node].word).score - before.score;
    }
    const float rank = total + hypothesis.sentence + hypothesis.completion + root_ahead_;
    if (rank > floor_) add_candidate({rank, total, source, labels_.delimiter(), LexiconTrie::kRoot});
  }

  Sentence complete_word(const Sentence& before, Word word) const override {
    Sentence after;
    const float score = kLn10 * model_.Score(before.state, word, after.state);
    after.probability = before.probability + score;
    after.score = before.score + options_.lm_weight * score + options_.valid_word_count_weight;
    return after;
  }

  const Model& model_;
  const float root_ahead_;
};

}  // namespace

std::unique_ptr<Search> Search::create(const Labels& labels, const DecoderOptions& options, const Scorer* scorer) {
  if (!scorer) return std::make_unique<PlainSearch>(labels, options);
  return std::visit(
      [&](const auto& model) -> std::unique_ptr<Search> {
        using Model = std::decay_t<decltype(*model)>;
        return std::make_unique<WordSearch<Model>>(labels, options, *scorer, *model);
      },
      scorer->language_model().model());
}

}  // namespace ctc
