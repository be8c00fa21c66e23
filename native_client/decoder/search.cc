#include "decoder/search.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "shared/log_math.h"

namespace ctc {
namespace {

// Unused nodes of the prefix trees that are allowed for each hypothesis of a full beam.
constexpr std::size_t kSlack = 64;

// Candidates that are collected before the worst are dropped, in beam widths, if candidates cost little.
constexpr std::size_t kCandidatesPerHypothesis = 4;

std::uint64_t label_bit(Label label) { return std::uint64_t{1} << (label % 64); }

Sentence start_of(const Scorer* scorer) {
  Sentence start{};
  if (scorer) start.state = scorer->language_model().sentence_begin_state();
  return start;
}

}  // namespace

Search::Search(const SearchContext& context)
    : context_(context),
      tree_(start_of(context.scorer.get())),
      most_candidates_(kCandidatesPerHypothesis * context.options.beam_width),
      columns_(context.labels.columns().empty() ? nullptr : context.labels.columns().data()),
      compact_at_(kSlack * context.options.beam_width) {
  beam_.push_back({0, kLogZero, 0, 0, context.nodes ? ahead(LexiconTrie::kRoot) : 0, NAN, Labels::kNone, Labels::kNone,
                   PrefixTree::kRoot, kNowhere, LexiconTrie::kRoot, kNowhere});
  tree_[PrefixTree::kRoot].slot = 0;
}

void Search::step(const std::vector<float>& posteriors) {
  prepare_frame(posteriors);
  cut_off();
  if (!advance()) {
    // No hypothesis continues with the columns that were kept: search this frame with all columns.
    offset_ -= best_total_;
    prepare_frame(posteriors);
    advance();
  }
  ++frame_;
  if (tree_.size() > compact_at_) compact();
}

void Search::prepare_frame(const std::vector<float>& posteriors) {
  posteriors_ = posteriors;
  for (float& posterior : posteriors_) posterior -= best_total_;
  offset_ += best_total_;
}

// Gives the columns outside `cutoff_prob` and `cutoff_top_n` a probability of 0.
void Search::cut_off() {
  const DecoderOptions& options = context_.options;
  const std::size_t columns = posteriors_.size();
  const std::size_t top = options.cutoff_top_n ? std::min(options.cutoff_top_n, columns) : columns;
  const double enough = options.cutoff_prob < 1 ? options.cutoff_prob : std::numeric_limits<double>::infinity();
  if (top == columns && std::isinf(enough)) return;
  std::vector<Label> order(columns);
  std::iota(order.begin(), order.end(), Label{0});
  const auto kept = order.begin() + std::ptrdiff_t(top);
  std::partial_sort(order.begin(), kept, order.end(),
                    [this](Label a, Label b) { return posteriors_[a] > posteriors_[b]; });
  double sum = 0;
  for (auto label = order.begin(); label != order.end(); ++label) {
    float& posterior = posteriors_[*label];
    if (label >= kept || sum >= enough) {
      posterior = kLogZero;
    } else {
      sum += std::exp(double(posterior) + best_total_);
    }
  }
}

// Replaces the beam by that of the next frame; returns false, with the beam unchanged, if no hypothesis continues.
bool Search::advance() {
  read_labels();
  candidates_.clear();
  stay();
  rank_labels();
  extend_beam();
  if (candidates_.empty()) return false;
  shrink_candidates();
  build_beam();
  return true;
}

// Converts the posteriors of columns to those of labels.
void Search::read_labels() {
  blank_ = posteriors_.back();
  if (!columns_) return;
  by_column_.swap(posteriors_);
  posteriors_.resize(context_.labels.size());
  for (Label label = 0; label < posteriors_.size(); ++label) posteriors_[label] = by_column_[columns_[label]];
}

// Computes every hypothesis one frame later, and the lowest rank that a candidate needs.
void Search::stay() {
  stays_.resize(beam_.size());
  children_.assign(beam_.size(), 0);
  float highest = kLogZero;
  for (std::uint32_t slot = 0; slot < beam_.size(); ++slot) {
    const Hypothesis& hypothesis = beam_[slot];
    Stay stay{hypothesis.total + blank_, kLogZero, 0, kNowhere};
    if (hypothesis.last != Labels::kNone) {
      stay.label = hypothesis.label + posteriors_[hypothesis.last];
      const std::uint32_t parent = tree_[hypothesis.parent].slot;
      if (parent != kNowhere) {
        children_[parent] |= label_bit(hypothesis.last);
        const float arrival = acoustic(beam_[parent], hypothesis.last);
        if (arrival > std::max(stay.blank, stay.label)) stay.arrived_from = parent;
        stay.label = log_add(stay.label, arrival);
      }
    }
    stay.total = log_add(stay.blank, stay.label);
    stays_[slot] = stay;
    const float rank = stay.total + hypothesis.sentence + hypothesis.ahead;
    if (rank == kLogZero) continue;
    highest = std::max(highest, rank);
    candidates_.push_back({rank, stay.label, slot, Labels::kNone, hypothesis.node, kNoCompletion});
  }
  floor_ = highest - context_.options.score_threshold;
  if (candidates_.size() < context_.options.beam_width) return;
  for (const Candidate& candidate : candidates_) highest = std::min(highest, candidate.rank);
  floor_ = std::max(floor_, highest);
}

// Sorts the labels with which a hypothesis could reach the floor.
void Search::rank_labels() {
  float highest = kLogZero;
  for (const Hypothesis& hypothesis : beam_) highest = std::max(highest, hypothesis.total + hypothesis.sentence);
  constexpr float kRounding = 1e-6f;  // of sums in another order
  const float needed = floor_ - highest - extension_bound_ - kRounding * (std::abs(floor_) + std::abs(highest));
  ranked_.clear();
  for (Label label = 0; label < context_.labels.size(); ++label) {
    if (posteriors_[label] > needed) ranked_.push_back(label);
  }
  std::sort(ranked_.begin(), ranked_.end(), [this](Label a, Label b) { return posteriors_[a] > posteriors_[b]; });
}

void Search::add_candidate(const Candidate& candidate) {
  candidates_.push_back(candidate);
  if (candidates_.size() >= most_candidates_) shrink_candidates();
}

// True if hypothesis `source` with one more label is in the beam, too.
bool Search::in_beam(std::uint32_t source, Label label) const {
  if (!(children_[source] & label_bit(label))) return false;
  if (context_.labels.size() <= 64) return true;
  const std::uint32_t child = tree_.find_child(beam_[source].prefix, label);
  return child != kNowhere && tree_[child].slot != kNowhere;
}

// Keeps the best candidates, as many as the beam is wide, and raises the floor to the worst of them.
void Search::shrink_candidates() {
  const auto better = [](const Candidate& a, const Candidate& b) { return a.rank > b.rank; };
  if (candidates_.size() > context_.options.beam_width) {
    const auto worst = candidates_.begin() + static_cast<std::ptrdiff_t>(context_.options.beam_width) - 1;
    std::nth_element(candidates_.begin(), worst, candidates_.end(), better);
    floor_ = std::max(floor_, worst->rank);
    candidates_.resize(context_.options.beam_width);
  }
  if (std::isinf(context_.options.score_threshold)) return;
  const float highest = std::min_element(candidates_.begin(), candidates_.end(), better)->rank;
  floor_ = std::max(floor_, highest - context_.options.score_threshold);
  const auto dropped = [this](const Candidate& candidate) { return candidate.rank < floor_; };
  candidates_.erase(std::remove_if(candidates_.begin(), candidates_.end(), dropped), candidates_.end());
}

void Search::build_beam() {
  for (const Hypothesis& hypothesis : beam_) tree_[hypothesis.prefix].slot = kNowhere;
  next_beam_.clear();
  float highest = kLogZero;
  for (const Candidate& candidate : candidates_) {
    next_beam_.push_back(candidate.label == Labels::kNone ? stayed(candidate) : extended(candidate));
    const Hypothesis& hypothesis = next_beam_.back();
    tree_[hypothesis.prefix].slot = static_cast<std::uint32_t>(next_beam_.size() - 1);
    if (candidate.rank > highest) {
      highest = candidate.rank;
      best_total_ = hypothesis.total;
    }
  }
  beam_.swap(next_beam_);
}

Hypothesis Search::stayed(const Candidate& candidate) {
  Hypothesis hypothesis = beam_[candidate.source];
  const Stay& stay = stays_[candidate.source];
  hypothesis.blank = stay.blank;
  hypothesis.label = stay.label;
  hypothesis.total = stay.total;
  if (stay.arrived_from != kNowhere) {
    hypothesis.arrival = tree_.add_arrival(beam_[stay.arrived_from].arrival, frame_);
  }
  return hypothesis;
}

Hypothesis Search::extended(const Candidate& candidate) {
  const Hypothesis& source = beam_[candidate.source];
  std::uint32_t prefix = tree_.find_child(source.prefix, candidate.label);
  if (prefix == kNowhere) {
    std::uint32_t words = tree_[source.prefix].sentence;
    if (candidate.completed != kNoCompletion) {
      words = tree_.add_sentence(complete_word(tree_.sentence(words), candidate.completed));
    }
    prefix = tree_.add_child(source.prefix, candidate.label, words);
  }
  const Sentence& sentence = tree_.sentence(tree_[prefix].sentence);
  return {kLogZero,
          candidate.acoustic,
          candidate.acoustic,
          sentence.score,
          context_.nodes ? ahead(candidate.node, sentence.phrase) : 0,
          NAN,
          candidate.label,
          column(candidate.label),
          prefix,
          source.prefix,
          candidate.node,
          tree_.add_arrival(source.arrival, frame_)};
}

void Search::compact() {
  std::vector<std::uint32_t*> prefixes, arrivals;
  for (Hypothesis& hypothesis : beam_) {
    prefixes.push_back(&hypothesis.prefix);
    arrivals.push_back(&hypothesis.arrival);
  }
  tree_.compact(prefixes, arrivals);
  for (Hypothesis& hypothesis : beam_) hypothesis.parent = tree_[hypothesis.prefix].parent;
  compact_at_ = 2 * tree_.size() + kSlack * context_.options.beam_width;
}

}  // namespace ctc
