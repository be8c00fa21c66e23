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
        add_candidate({total, total, source, label, LexiconTrie::kRoot, kNoCompletion});
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

// From this number of children on (in Chinese, say) it pays to look only at those with probable labels.
constexpr std::uint32_t kManyChildren = 64;

// Words of the trie. If the delimiter alone begins words, it leads to the root of the trie; other labels that begin
// words are part of their spellings, so they lead to the root's children.
template <class Model>
class WordSearch final : public ScoredSearch<Model> {
 public:
  WordSearch(const SearchContext& context, const Model& model)
      : ScoredSearch<Model>(context, model),
        delimiter_(context.labels.delimiter()),
        spell_beginnings_(context.labels.spell_beginnings()),
        unknown_allowed_(context.unknown_score > kLogZero) {
    this->extension_bound_ = context.unknown_score;
    if (spell_beginnings_) {
      find_beginnings();
    } else {
      beginnings_ = {{delimiter_, LexiconTrie::kRoot}};
      if (nodes_[1].first_child > kManyChildren) this->extension_bound_ = root_ahead_;
    }
  }

 private:
  using Base = ScoredSearch<Model>;
  using Base::nodes_, Base::root_ahead_, Base::beam_, Base::posteriors_, Base::floor_, Base::context_;

  // A label that begins a word, and the node that it leads to.
  struct Beginning {
    Label label;
    std::uint32_t node;
  };

  void find_beginnings() {
    const float best_word = std::max(context_.highest_bonus(), context_.options.unknown_word_score);
    this->extension_bound_ = std::max(context_.unknown_score, best_word + root_ahead_);
    node_of_beginning_.assign(context_.labels.size(), kBeginsNothing);
    for (Label label = 0; label < context_.labels.size(); ++label) {
      if (!context_.labels.begins_word(label)) continue;
      const std::uint32_t node = LexiconTrie::find_child(nodes_, LexiconTrie::kRoot, label);
      if (node != LexiconTrie::kNoNode || unknown_allowed_) node_of_beginning_[label] = node;
    }
  }

  void extend_beam() override {
    if (spell_beginnings_) rank_beginnings();
    for (std::uint32_t source = 0; source < beam_.size(); ++source) extend(source);
  }

  void rank_beginnings() {
    beginnings_.clear();
    for (const Label label : this->ranked_) {
      const std::uint32_t node = node_of_beginning_[label];
      if (node != kBeginsNothing) beginnings_.push_back({label, node});
    }
  }

  void extend(std::uint32_t source) {
    const Hypothesis& hypothesis = beam_[source];
    if (hypothesis.node != LexiconTrie::kNoNode) {
      extend_in_trie(source);
      if (nodes_[hypothesis.node].word != TrieNode::kNoWord) complete(source);
    }
    if (unknown_allowed_) extend_to_unknown(source);
  }

  void extend_in_trie(std::uint32_t source) {
    const Hypothesis& hypothesis = beam_[source];
    const std::uint32_t begin = nodes_[hypothesis.node].first_child, end = nodes_[hypothesis.node + 1].first_child;
    if (end - begin < kManyChildren) {
      for (std::uint32_t child = begin; child < end; ++child) {
        extend_by(source, hypothesis, nodes_[child].label, child);
      }
      return;
    }
    for (const Label label : this->ranked_) {
      if (!(hypothesis.total + posteriors_[label] + hypothesis.sentence + root_ahead_ > floor_)) return;
      const std::uint32_t child = LexiconTrie::find_child(nodes_, hypothesis.node, label);
      if (child != LexiconTrie::kNoNode) extend_by(source, hypothesis, label, child);
    }
  }

  void extend_by(std::uint32_t source, const Hypothesis& hypothesis, Label label, std::uint32_t node) {
    const float total = this->acoustic(hypothesis, label);
    const float rank = total + hypothesis.sentence + this->ahead(node);
    if (rank > floor_ && !this->in_beam(source, label)) {
      this->add_candidate({rank, total, source, label, node, Base::kNoCompletion});
    }
  }

  void extend_to_unknown(std::uint32_t source) {
    const Hypothesis& hypothesis = beam_[source];
    const std::uint32_t node = hypothesis.node;
    const bool is_in_trie = node != LexiconTrie::kNoNode;
    const bool may_begin = spell_beginnings_ && node == LexiconTrie::kRoot;
    for (const Label label : this->ranked_) {
      if (!(hypothesis.total + posteriors_[label] + hypothesis.sentence + context_.unknown_score > floor_)) break;
      if (label == delimiter_ && !spell_beginnings_) continue;
      if (spell_beginnings_ && !may_begin && node_of_beginning_[label] != kBeginsNothing) continue;
      if (is_in_trie && LexiconTrie::find_child(nodes_, node, label) != LexiconTrie::kNoNode) continue;
      extend_by(source, hypothesis, label, LexiconTrie::kNoNode);
    }
    const bool in_known_word = is_in_trie && nodes_[node].word != TrieNode::kNoWord;
    if (node != LexiconTrie::kRoot && !in_known_word && hypothesis.last != delimiter_) complete(source);
  }

  // Ends the word of the hypothesis by the labels that begin another.
  void complete(std::uint32_t source) {
    Hypothesis& hypothesis = beam_[source];
    const float bound = completion_bound(hypothesis.node);
    for (const auto [label, node] : beginnings_) {
      const float highest = hypothesis.total + posteriors_[label];
      if (!(highest + hypothesis.sentence + bound + root_ahead_ > floor_)) return;
      if (this->in_beam(source, label)) continue;
      if (std::isnan(hypothesis.completion)) {
        const Sentence& before = this->sentence(hypothesis);
        hypothesis.completion = this->complete_word(before, hypothesis.node).score - before.score;
      }
      const float total = this->acoustic(hypothesis, label);
      const float rank = total + hypothesis.sentence + hypothesis.completion + this->ahead(node);
      if (rank > floor_) this->add_candidate({rank, total, source, label, node, hypothesis.node});
    }
  }

  // No completion scores higher, as no word has more than ln P = 0.
  float completion_bound(std::uint32_t node) const {
    const bool known = node != LexiconTrie::kNoNode && nodes_[node].word != TrieNode::kNoWord;
    return known ? context_.bonus(node) : context_.options.unknown_word_score;
  }

  static constexpr std::uint32_t kBeginsNothing = LexiconTrie::kNoNode - 1;

  const Label delimiter_;
  const bool spell_beginnings_;
  const bool unknown_allowed_;
  std::vector<std::uint32_t> node_of_beginning_;  // for each label that may begin a word, else kBeginsNothing
  std::vector<Beginning> beginnings_;             // that a hypothesis could reach the floor by, best first
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
    if (!(rank > floor_)) return;
    if (completes) {
      this->add_candidate({rank, total, source, label, LexiconTrie::kRoot, child});
    } else {
      this->add_candidate({rank, total, source, label, child, Base::kNoCompletion});
    }
  }
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
