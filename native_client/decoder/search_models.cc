// The part of the search that determines how hypotheses may continue, compiled for each of KenLM's data structures.
#include <cmath>
#include <numeric>
#include <type_traits>

#include "decoder/scored_search.h"

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
        add_candidate({total, total, source, label, LexiconTrie::kRoot, kNoCompletion});
      }
    }
  }

  Sentence complete_word(const Sentence& before, std::uint32_t) const override { return before; }
};

// Words of the trie. If the delimiter alone begins words, it leads to the root of the trie; other labels that begin
// words are part of their spellings, so they lead to the root's children.
template <class Model, bool kHotWords>
class WordSearch final : public ScoredSearch<Model, kHotWords> {
 public:
  WordSearch(const SearchContext& context, const Model& model)
      : ScoredSearch<Model, kHotWords>(context, model),
        delimiter_(context.labels.delimiter()),
        spell_beginnings_(context.labels.spell_beginnings()),
        unknown_allowed_(context.unknown_score > kLogZero) {
    if (spell_beginnings_) {
      const float best_word = std::max(context.highest_bonus(), context.options.unknown_word_score);
      this->extension_bound_ = std::max(context.unknown_score, best_word + highest_ahead_);
    } else {
      beginnings_ = {{delimiter_, LexiconTrie::kRoot}};
      // With few labels, no node has many children, so only unknown words use the ranked labels.
      this->extension_bound_ = context.labels.size() < kManyChildren ? context.unknown_score : highest_ahead_;
    }
  }

 private:
  using Base = ScoredSearch<Model, kHotWords>;
  using typename Base::Step;
  using Base::highest_ahead_, Base::beam_, Base::posteriors_, Base::floor_, Base::context_;

  void extend_beam() override {
    if (this->root_has_many_children_) this->rank_root_children();
    if (spell_beginnings_) rank_beginnings();
    for (std::uint32_t source = 0; source < beam_.size(); ++source) extend(source);
  }

  void rank_beginnings() {
    beginnings_.clear();
    for (const Label label : this->ranked_) {
      const std::uint32_t node = this->root_children_[label];
      const bool may_follow = node != LexiconTrie::kNoNode || unknown_allowed_;
      if (may_follow && context_.labels.begins_word(label)) beginnings_.push_back({label, node});
    }
  }

  void extend(std::uint32_t source) {
    const Hypothesis& hypothesis = beam_[source];
    if (kHotWords) phrase_ = this->sentence(hypothesis).phrase;
    if (hypothesis.node != LexiconTrie::kNoNode) {
      this->for_each_step(hypothesis, phrase_, highest_ahead_,
                          [&](Step step, float ahead) { extend_by(source, hypothesis, step, ahead); });
      if (this->word(hypothesis.node) != TrieNode::kNoWord) complete(source);
    }
    if (unknown_allowed_) extend_to_unknown(source);
  }

  // Inlined, as it is called for almost every label of every hypothesis.
  [[gnu::always_inline]] void extend_by(std::uint32_t source, const Hypothesis& hypothesis, Step step, float ahead) {
    const float total = this->acoustic(hypothesis, step.label);
    const float rank = total + hypothesis.sentence + ahead;
    if (rank > floor_ && !this->in_beam(source, step.label)) {
      this->add_candidate({rank, total, source, step.label, step.node, Base::kNoCompletion});
    }
  }

  void extend_to_unknown(std::uint32_t source) {
    const Hypothesis& hypothesis = beam_[source];
    const std::uint32_t node = hypothesis.node;
    const bool is_in_trie = node != LexiconTrie::kNoNode;
    const bool may_begin = spell_beginnings_ && node == LexiconTrie::kRoot;
    for (const Label label : this->ranked_) {
      if (!(hypothesis.total + posteriors_[label] + hypothesis.sentence + context_.unknown_score > floor_)) break;
      if (!may_begin && context_.labels.begins_word(label)) continue;
      if (is_in_trie && context_.find_child(node, label) != LexiconTrie::kNoNode) continue;
      extend_by(source, hypothesis, {label, LexiconTrie::kNoNode}, context_.unknown_score);
    }
    const bool in_known_word = this->word(node) != TrieNode::kNoWord;
    if (node != LexiconTrie::kRoot && !in_known_word && hypothesis.last != delimiter_) complete(source);
  }

  // Ends the word of the hypothesis by the labels that begin another.
  void complete(std::uint32_t source) {
    Hypothesis& hypothesis = beam_[source];
    const float bound = completion_bound(hypothesis.node);
    Phrases::State after = Phrases::kStart;
    if (kHotWords) context_.hot_words.follow(phrase_, hypothesis.node, after);
    for (const auto [label, node] : beginnings_) {
      const float highest = hypothesis.total + posteriors_[label];
      if (!(highest + hypothesis.sentence + bound + highest_ahead_ > floor_)) return;
      if (this->in_beam(source, label)) continue;
      if (std::isnan(hypothesis.completion)) {
        const Sentence& before = this->sentence(hypothesis);
        hypothesis.completion = this->complete_word(before, hypothesis.node).score - before.score;
      }
      const float total = this->acoustic(hypothesis, label);
      const float rank = total + hypothesis.sentence + hypothesis.completion + this->ahead(node, after);
      if (rank > floor_) this->add_candidate({rank, total, source, label, node, hypothesis.node});
    }
  }

  // The bound of any completion's score, as ln P of a word is at most 0.
  float completion_bound(std::uint32_t node) const {
    const Word word = this->word(node);
    if (kHotWords || context_.options.lm_weight < 0) return highest_completion(node, word);
    return word == TrieNode::kNoWord ? context_.options.unknown_word_score : context_.bonus(word);
  }

  float highest_completion(std::uint32_t node, Word word) const {
    const bool known = word != TrieNode::kNoWord;
    return known || context_.options.lm_weight < 0 ? context_.highest_bonus(node) : context_.options.unknown_word_score;
  }

  const Label delimiter_;
  const bool spell_beginnings_;
  const bool unknown_allowed_;
  Phrases::State phrase_ = Phrases::kStart;  // of the hypothesis that is extended
  std::vector<Step> beginnings_;             // by which words may begin after another, the most probable first
};

// Characters of the trie, each of one or (as its UTF-8 bytes) several labels; they need no delimiter.
template <class Model, bool kHotWords>
class CharacterSearch final : public ScoredSearch<Model, kHotWords> {
 public:
  CharacterSearch(const SearchContext& context, const Model& model)
      : ScoredSearch<Model, kHotWords>(context, model) {
    this->extension_bound_ = highest_ahead_ + context.highest_bonus();
    // The language model needs time for each candidate, so the floor rises early.
    this->most_candidates_ = context.options.beam_width + std::max<std::size_t>(1, context.options.beam_width / 4);
  }

 private:
  using Base = ScoredSearch<Model, kHotWords>;
  using typename Base::Step;
  using Base::highest_ahead_, Base::beam_, Base::posteriors_, Base::floor_, Base::context_;

  void extend_beam() override {
    if (this->root_has_many_children_) this->rank_root_children();
    // The best first, as their continuations raise the floor for the others.
    order_.resize(beam_.size());
    std::iota(order_.begin(), order_.end(), 0u);
    std::sort(order_.begin(), order_.end(), [this](std::uint32_t a, std::uint32_t b) {
      return beam_[a].total + beam_[a].sentence > beam_[b].total + beam_[b].sentence;
    });
    for (const std::uint32_t source : order_) extend(source);
  }

  void extend(std::uint32_t source) {
    const Hypothesis& hypothesis = beam_[source];
    const Sentence& before = this->sentence(hypothesis);
    const std::uint64_t context = lm::ngram::hash_value(before.state);
    this->for_each_step(hypothesis, before.phrase, this->extension_bound_, [&](Step step, float ahead) {
      extend_by(source, hypothesis, before, context, step, ahead);
    });
  }

  void extend_by(std::uint32_t source, const Hypothesis& hypothesis, const Sentence& before, std::uint64_t context,
                 Step step, float ahead) {
    const auto [label, child] = step;
    const float total = this->acoustic(hypothesis, label);
    const Word word = this->word(child);
    const bool completes = word != TrieNode::kNoWord;
    const float bound = completes ? context_.highest_bonus(child) + highest_ahead_ : ahead;
    if (!(total + hypothesis.sentence + bound > floor_) || this->in_beam(source, label)) return;
    if (!completes) {
      const float rank = total + hypothesis.sentence + bound;
      this->add_candidate({rank, total, source, label, child, Base::kNoCompletion});
      return;
    }
    Phrases::State after = Phrases::kStart;
    const float boost = kHotWords ? context_.hot_words.follow(before.phrase, child, after) : 0;
    const float weighted = context_.weighted(score(before, context, word));
    const float rank = total + (before.score + weighted + context_.bonus(word) + boost) + this->ahead(LexiconTrie::kRoot, after);
    if (rank > floor_) this->add_candidate({rank, total, source, label, LexiconTrie::kRoot, child});
  }

  // ln P of a word after a sentence whose state has hash `context`.
  float score(const Sentence& before, std::uint64_t context, Word word) {
    Scored& scored = scored_[(context ^ word * kMultiplier) >> (64 - kScoredBits)];
    if (scored.context != context || scored.word != word) {
      LanguageState after;
      scored = {context, word, kLn10 * this->model_.Score(before.state, word, after)};
    }
    return scored.score;
  }

  // A score that is needed again: hypotheses stay for several frames, and many have their last words in common.
  struct Scored {
    std::uint64_t context;
    Word word;
    float score;
  };
  static constexpr int kScoredBits = 16;
  static constexpr std::uint64_t kMultiplier = 0x9E3779B97F4A7C15;

  std::vector<std::uint32_t> order_;
  std::vector<Scored> scored_ = std::vector<Scored>(std::size_t{1} << kScoredBits, Scored{0, TrieNode::kNoWord, 0});
};

template <class Model, bool kHotWords>
std::unique_ptr<Search> create_scored(const SearchContext& context, const Model& model) {
  if (context.scorer->unit() == Unit::kWord) return std::make_unique<WordSearch<Model, kHotWords>>(context, model);
  return std::make_unique<CharacterSearch<Model, kHotWords>>(context, model);
}

}  // namespace

std::unique_ptr<Search> Search::create(const SearchContext& context) {
  if (!context.scorer) return std::make_unique<PlainSearch>(context);
  return std::visit(
      [&](const auto& model) {
        using Model = std::decay_t<decltype(*model)>;
        if (context.hot_words.empty()) return create_scored<Model, false>(context, *model);
        return create_scored<Model, true>(context, *model);
      },
      context.scorer->language_model().model());
}

}  // namespace ctc
