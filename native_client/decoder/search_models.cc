// The part of the search that knows what a hypothesis may go on with, compiled for each of KenLM's data structures.
#include <cmath>
#include <type_traits>

#include "decoder/search.h"
#include "shared/log_math.h"

namespace ctc {
namespace {

// Without a language model: every label may follow every other.
class PlainSearch final : public Search {
 public:
  explicit PlainSearch(const SearchContext& context) : Search(context) { extension_bound_ = 0; }

 private:
  void extend_beam() override {
    for (std::uint32_t source = 0; source < beam_.size(); ++source) extend(source);
  }

  void extend(std::uint32_t source) {
    const Hypothesis& hypothesis = beam_[source];
    for (const Label label : ranked_) {
      if (!(hypothesis.total + posteriors_[label] > floor_)) return;
      const float total = acoustic(hypothesis, label);
      if (total > floor_ && !in_beam(source, label)) {
        add_candidate({total, total, source, label, LexiconTrie::kRoot, false});
      }
    }
  }

  Sentence complete_word(const Sentence& before, std::uint32_t) const override { return before; }
};

template <class Model>
class ScoredSearch : public Search {
 protected:
  ScoredSearch(const SearchContext& context, const Model& model)
      : Search(context), nodes_(context.nodes), root_ahead_(ahead(LexiconTrie::kRoot)), model_(model) {}

  Sentence complete_word(const Sentence& before, std::uint32_t node) const final {
    const bool known = node != LexiconTrie::kNoNode && nodes_[node].word != TrieNode::kNoWord;
    Sentence after;
    const float score = kLn10 * model_.Score(before.state, known ? nodes_[node].word : 0, after.state);
    const float bonus = known ? context_.bonus(node) : context_.options.unknown_word_score;
    after.probability = before.probability + score;
    after.score = before.score + context_.options.lm_weight * score + bonus;
    return after;
  }

  const TrieNode* const nodes_;
  const float root_ahead_;

 private:
  const Model& model_;
};

// Words of the trie, separated by the delimiter.
template <class Model>
class WordSearch final : public ScoredSearch<Model> {
 public:
  WordSearch(const SearchContext& context, const Model& model)
      : ScoredSearch<Model>(context, model),
        delimiter_(context.labels.delimiter()),
        unknown_allowed_(context.unknown_score > kLogZero) {
    this->extension_bound_ = context.unknown_score;
  }

 private:
  using Base = ScoredSearch<Model>;
  using Base::nodes_, Base::root_ahead_, Base::beam_, Base::posteriors_, Base::floor_, Base::context_;

  void extend_beam() override {
    for (std::uint32_t source = 0; source < beam_.size(); ++source) extend(source);
  }

  void extend(std::uint32_t source) {
    const Hypothesis& hypothesis = beam_[source];
    if (hypothesis.node != LexiconTrie::kNoNode) {
      const std::uint32_t end = nodes_[hypothesis.node + 1].first_child;
      for (std::uint32_t child = nodes_[hypothesis.node].first_child; child < end; ++child) {
        extend_by(source, hypothesis, nodes_[child].label, child);
      }
      if (nodes_[hypothesis.node].word != TrieNode::kNoWord) complete(source);
    }
    if (unknown_allowed_) extend_to_unknown(source);
  }

  void extend_by(std::uint32_t source, const Hypothesis& hypothesis, Label label, std::uint32_t node) {
    const float total = this->acoustic(hypothesis, label);
    const float rank = total + hypothesis.sentence + this->ahead(node);
    if (rank > floor_ && !this->in_beam(source, label)) {
      this->add_candidate({rank, total, source, label, node, false});
    }
  }

  void extend_to_unknown(std::uint32_t source) {
    const Hypothesis& hypothesis = beam_[source];
    const std::uint32_t node = hypothesis.node;
    const bool is_in_trie = node != LexiconTrie::kNoNode;
    for (const Label label : this->ranked_) {
      if (!(hypothesis.total + posteriors_[label] + hypothesis.sentence + context_.unknown_score > floor_)) break;
      if (label == delimiter_) continue;
      if (is_in_trie && LexiconTrie::find_child(nodes_, node, label) != LexiconTrie::kNoNode) continue;
      extend_by(source, hypothesis, label, LexiconTrie::kNoNode);
    }
    const bool in_known_word = is_in_trie && nodes_[node].word != TrieNode::kNoWord;
    if (node != LexiconTrie::kRoot && !in_known_word) complete(source);
  }

  // Ends the word of the hypothesis by the delimiter.
  void complete(std::uint32_t source) {
    Hypothesis& hypothesis = beam_[source];
    const float total = hypothesis.total + posteriors_[delimiter_];
    if (!(total + hypothesis.sentence + completion_bound(hypothesis.node) + root_ahead_ > floor_)) return;
    if (this->in_beam(source, delimiter_)) return;
    if (std::isnan(hypothesis.completion)) {
      const Sentence& before = this->sentence(hypothesis);
      hypothesis.completion = this->complete_word(before, hypothesis.node).score - before.score;
    }
    const float rank = total + hypothesis.sentence + hypothesis.completion + root_ahead_;
    if (rank > floor_) this->add_candidate({rank, total, source, delimiter_, hypothesis.node, true});
  }

  // No completion scores higher, as no word has more than ln P = 0.
  float completion_bound(std::uint32_t node) const {
    const bool known = node != LexiconTrie::kNoNode && nodes_[node].word != TrieNode::kNoWord;
    return known ? context_.bonus(node) : context_.options.unknown_word_score;
  }

  const Label delimiter_;
  const bool unknown_allowed_;
};

// Characters of the trie, each of one or (as its UTF-8 bytes) several labels; they need no delimiter.
template <class Model>
class CharacterSearch final : public ScoredSearch<Model> {
 public:
  CharacterSearch(const SearchContext& context, const Model& model)
      : ScoredSearch<Model>(context, model) {
    this->extension_bound_ = root_ahead_ + context.highest_bonus();
  }

 private:
  using Base = ScoredSearch<Model>;
  using Base::nodes_, Base::root_ahead_, Base::beam_, Base::posteriors_, Base::floor_, Base::context_;

  void extend_beam() override {
    for (std::uint32_t source = 0; source < beam_.size(); ++source) extend(source);
  }

  void extend(std::uint32_t source) {
    const Hypothesis& hypothesis = beam_[source];
    const std::uint32_t begin = nodes_[hypothesis.node].first_child, end = nodes_[hypothesis.node + 1].first_child;
    if (end - begin < kManyChildren) {
      for (std::uint32_t child = begin; child < end; ++child) extend_by(source, hypothesis, child);
      return;
    }
    for (const Label label : this->ranked_) {
      if (!(hypothesis.total + posteriors_[label] + hypothesis.sentence + this->extension_bound_ > floor_)) return;
      const std::uint32_t child = LexiconTrie::find_child(nodes_, hypothesis.node, label);
      if (child != LexiconTrie::kNoNode) extend_by(source, hypothesis, child);
    }
  }

  void extend_by(std::uint32_t source, const Hypothesis& hypothesis, std::uint32_t child) {
    const Label label = nodes_[child].label;
    const float total = this->acoustic(hypothesis, label);
    const bool completes = nodes_[child].word != TrieNode::kNoWord;
    const float bound = completes ? context_.bonus(child) + root_ahead_ : this->ahead(child);
    if (!(total + hypothesis.sentence + bound > floor_) || this->in_beam(source, label)) return;
    float rank = total + hypothesis.sentence + bound;
    if (completes) rank = total + this->complete_word(this->sentence(hypothesis), child).score + root_ahead_;
    if (rank > floor_) this->add_candidate({rank, total, source, label, child, completes});
  }

  // The number of children (in Chinese, say) from which on it pays to look only at those with probable labels.
  static constexpr std::uint32_t kManyChildren = 64;
};

}  // namespace

std::unique_ptr<Search> Search::create(const SearchContext& context) {
  if (!context.scorer) return std::make_unique<PlainSearch>(context);
  return std::visit(
      [&](const auto& model) -> std::unique_ptr<Search> {
        using Model = std::decay_t<decltype(*model)>;
        if (context.scorer->unit() == Unit::kWord) return std::make_unique<WordSearch<Model>>(context, *model);
        return std::make_unique<CharacterSearch<Model>>(context, *model);
      },
      context.scorer->language_model().model());
}

}  // namespace ctc
