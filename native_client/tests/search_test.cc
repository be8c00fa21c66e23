// The search against sums over all alignments.
#include <algorithm>
#include <map>

#include "fixtures.h"
#include "shared/error.h"
#include "testing.h"

namespace {

using namespace ctc;
using fixtures::Random;

constexpr std::size_t kEverything = 4096;

// ln of the summed probabilities of the alignments of each transcript, without a delimiter at its end.
std::map<std::vector<Label>, double> exhaustive(const std::vector<float>& posteriors, std::size_t columns) {
  const std::size_t frames = posteriors.size() / columns;
  std::map<std::vector<Label>, double> scores;
  std::vector<Label> alignment(frames, 0);
  for (bool more = true; more;) {
    double probability = 1;
    std::vector<Label> transcript;
    for (std::size_t frame = 0; frame < frames; ++frame) {
      probability *= double(posteriors[frame * columns + alignment[frame]]);
      const bool repeats = frame > 0 && alignment[frame] == alignment[frame - 1];
      if (!repeats && alignment[frame] != columns - 1) transcript.push_back(alignment[frame]);
    }
    scores[transcript] += probability;
    std::size_t place = 0;
    while (place < frames && ++alignment[place] == columns) alignment[place++] = 0;
    more = place < frames;
  }
  for (auto& [transcript, score] : scores) score = std::log(score);
  return scores;
}

double ln_probability(const LanguageModel& model, const std::vector<std::string>& words, bool sentence_end) {
  LanguageState state = model.sentence_begin_state(), next;
  double sum = 0;
  for (const std::string& word : words) {
    sum += double(model.score(state, model.index(word), next));
    state = next;
  }
  return sentence_end ? sum + double(model.score(state, model.sentence_end(), next)) : sum;
}

// The words of a transcript over the labels " ", "a", "b"; false if one is empty.
bool split(std::vector<Label> transcript, std::vector<std::string>& words) {
  if (!transcript.empty() && transcript.back() == 0) transcript.pop_back();
  else if (transcript.empty()) return true;
  words.emplace_back();
  for (const Label label : transcript) {
    if (label == 0) words.emplace_back();
    else words.back().push_back(label == 1 ? 'a' : 'b');
  }
  return std::find(words.begin(), words.end(), "") == words.end();
}

TEST(plain_search_equals_exhaustive_search) {
  Random random(1);
  for (int round = 0; round < 3000; ++round) {
    const std::size_t columns = 2 + random() % 3, frames = 1 + random() % 5;
    const std::vector<float> posteriors = fixtures::random_posteriors(random, frames, columns);
    std::vector<std::string> texts = {"x", "y", "z"};
    texts.resize(columns - 1);
    DecoderOptions options;
    options.beam_width = options.result_count = kEverything;
    const Decoder decoder{Labels(texts), options, nullptr};
    const auto expected = exhaustive(posteriors, columns);
    const std::vector<Result> results = decoder.decode(fixtures::view(posteriors, columns));
    CHECK(results.size() == expected.size());
    for (const Result& result : results) CHECK_NEAR(result.score, expected.at(result.labels), 1e-3);
  }
}

TEST(word_search_equals_exhaustive_search) {
  Random random(2);
  const fixtures::Folder folder;
  const std::vector<std::string> vocabulary = {"a", "ab", "b", "bb", "ba", "aab"};
  for (int round = 0; round < 1500; ++round) {
    fixtures::write_arpa(folder / "lm.arpa", vocabulary, random);
    const Labels labels({" ", "a", "b"});
    const auto scorer = std::make_shared<const Scorer>(labels, folder / "lm.arpa", Unit::kWord);
    const std::vector<float> posteriors = fixtures::random_posteriors(random, 1 + random() % 5, 4);
    DecoderOptions options;
    options.beam_width = options.result_count = kEverything;
    options.lm_weight = fixtures::uniform(random, 0, 2);
    options.valid_word_count_weight = fixtures::uniform(random, -2, 2);
    options.sentence_end = random() % 2;
    std::map<std::vector<std::string>, double> expected;
    for (const auto& [transcript, score] : exhaustive(posteriors, 4)) {
      std::vector<std::string> words;
      if (!split(transcript, words)) continue;
      const auto known = [&](const std::string& word) {
        return std::find(vocabulary.begin(), vocabulary.end(), word) != vocabulary.end();
      };
      if (std::all_of(words.begin(), words.end(), known)) expected[words] += std::exp(score);
    }
    const std::vector<Result> results = Decoder(labels, options, scorer).decode(fixtures::view(posteriors, 4));
    CHECK(results.size() == expected.size());
    for (const Result& result : results) {
      std::vector<std::string> words;
      CHECK(split(result.labels, words));
      const double ln_p = ln_probability(scorer->language_model(), words, options.sentence_end);
      const double bonus = double(options.valid_word_count_weight) * double(words.size());
      CHECK_NEAR(result.lm_score, ln_p, 1e-3);
      CHECK_NEAR(result.score, std::log(expected.at(words)) + double(options.lm_weight) * ln_p + bonus, 3e-3);
    }
  }
}

// The sequences of labels that have these columns.
std::vector<Spelling> labels_of(const Labels& labels, const std::vector<Label>& columns) {
  std::vector<Spelling> sequences(1);
  for (const Label column : columns) {
    std::vector<Spelling> longer;
    for (const Spelling& sequence : sequences) {
      for (Label label = 0; label < labels.size(); ++label) {
        if (labels.column(label) != column) continue;
        longer.push_back(sequence);
        longer.back().push_back(label);
      }
    }
    sequences = std::move(longer);
  }
  return sequences;
}

TEST(character_search_sums_over_all_readings) {
  Random random(6);
  const fixtures::Folder folder;
  const Labels labels({"u", "v", "w", "w"}, {0, 0, 0, 1}, 2);
  for (int round = 0; round < 500; ++round) {
    fixtures::write_arpa(folder / "lm.arpa", {"u", "v", "w"}, random);
    const auto scorer = std::make_shared<const Scorer>(labels, folder / "lm.arpa", Unit::kCharacter);
    const std::vector<float> posteriors = fixtures::random_posteriors(random, 1 + random() % 4, 3);
    DecoderOptions options;
    options.beam_width = options.result_count = kEverything;
    std::map<std::string, double> expected;
    for (const auto& [columns, score] : exhaustive(posteriors, 3)) {
      for (const Spelling& sequence : labels_of(labels, columns)) expected[labels.join(sequence)] += std::exp(score);
    }
    const std::vector<Result> results = Decoder(labels, options, scorer).decode(fixtures::view(posteriors, 3));
    CHECK(results.size() == expected.size());
    for (const Result& result : results) {
      std::vector<std::string> words;
      for (const Label label : result.labels) words.push_back(labels.text(label));
      const double ln_p = ln_probability(scorer->language_model(), words, true);
      const double bonus = double(options.valid_word_count_weight) * double(words.size());
      const double acoustic = std::log(expected.at(labels.join(result.labels)));
      CHECK_NEAR(result.score, acoustic + double(options.lm_weight) * ln_p + bonus, 3e-3);
    }
  }
}

// The words of a transcript in pieces; false unless `labels` spell each word by the same pieces.
bool split_pieces(const Labels& labels, Spelling transcript, std::vector<std::string>& words) {
  if (!transcript.empty() && transcript.back() == labels.delimiter()) transcript.pop_back();
  while (!transcript.empty()) {
    const auto end = std::find_if(transcript.begin() + 1, transcript.end(),
                                  [&](Label label) { return labels.begins_word(label); });
    const Spelling spelling(transcript.begin(), end);
    const std::string text = labels.join(spelling);
    if (text.front() != ' ' || labels.spell(text) != std::vector<Spelling>{spelling}) return false;
    words.push_back(text.substr(1));
    transcript.erase(transcript.begin(), end);
  }
  return true;
}

TEST(search_of_word_pieces_equals_exhaustive_search) {
  Random random(7);
  const fixtures::Folder folder;
  const std::vector<std::string> vocabulary = {"a", "ab", "b", "bb", "aab"};
  const Labels labels({" ", " a", "a", "b"});
  for (int round = 0; round < 500; ++round) {
    fixtures::write_arpa(folder / "lm.arpa", vocabulary, random);
    const auto scorer = std::make_shared<const Scorer>(labels, folder / "lm.arpa", Unit::kWord);
    const std::vector<float> posteriors = fixtures::random_posteriors(random, 1 + random() % 4, 5);
    DecoderOptions options;
    options.beam_width = options.result_count = kEverything;
    std::map<std::vector<std::string>, double> expected;
    for (const auto& [transcript, score] : exhaustive(posteriors, 5)) {
      std::vector<std::string> words;
      const auto known = [&](const std::string& word) {
        return std::find(vocabulary.begin(), vocabulary.end(), word) != vocabulary.end();
      };
      if (!split_pieces(labels, transcript, words) || !std::all_of(words.begin(), words.end(), known)) continue;
      expected[words] += std::exp(score);
    }
    const std::vector<Result> results = Decoder(labels, options, scorer).decode(fixtures::view(posteriors, 5));
    CHECK(results.size() == expected.size());
    for (const Result& result : results) {
      std::vector<std::string> words;
      CHECK(split_pieces(labels, result.labels, words));
      const double ln_p = ln_probability(scorer->language_model(), words, true);
      const double bonus = double(options.valid_word_count_weight) * double(words.size());
      CHECK_NEAR(result.score, std::log(expected.at(words)) + double(options.lm_weight) * ln_p + bonus, 3e-3);
    }
  }
}

TEST(a_stream_equals_one_piece_and_forgets_what_it_needs_no_more) {
  Random random(3);
  const fixtures::Folder folder;
  fixtures::write_arpa(folder / "lm.arpa", {"a", "b", "ab"}, random);
  const Labels labels({" ", "a", "b"});
  const auto scorer = std::make_shared<const Scorer>(labels, folder / "lm.arpa", Unit::kWord);
  DecoderOptions options;
  options.beam_width = options.result_count = 10;
  const auto decoder = std::make_shared<const Decoder>(labels, options, scorer);
  const std::vector<float> posteriors = fixtures::random_posteriors(random, 3000, 4);
  const std::vector<Result> whole = decoder->decode(fixtures::view(posteriors, 4));
  Stream stream(decoder);
  for (std::size_t begin = 0; begin < posteriors.size();) {
    const std::size_t end = std::min(posteriors.size(), begin + 4 * (random() % 200));
    stream.feed(fixtures::view({posteriors.begin() + long(begin), posteriors.begin() + long(end)}, 4));
    begin = end;
  }
  const std::vector<Result> pieces = stream.finish();
  CHECK(whole.size() == pieces.size());
  for (std::size_t place = 0; place < whole.size(); ++place) {
    CHECK(whole[place].labels == pieces[place].labels && whole[place].frames == pieces[place].frames);
    CHECK(whole[place].score == pieces[place].score);
    CHECK(std::is_sorted(whole[place].frames.begin(), whole[place].frames.end()));
  }
}

TEST(results_so_far_do_not_depend_on_those_that_were_asked_for_before) {
  Random random(8);
  const Labels labels({"u", "v", "w", "w"}, {0, 0, 0, 1}, 2);
  DecoderOptions options;
  options.beam_width = options.result_count = 10;
  const auto decoder = std::make_shared<const Decoder>(labels, options, nullptr);
  const std::vector<float> posteriors = fixtures::random_posteriors(random, 500, 3);
  Stream stream(decoder);
  for (std::size_t end = 0; end < posteriors.size();) {
    const std::size_t begin = end;
    end = std::min(posteriors.size(), begin + 3 * (random() % 20));
    stream.feed(fixtures::view({posteriors.begin() + long(begin), posteriors.begin() + long(end)}, 3));
    Stream unasked(decoder);
    unasked.feed(fixtures::view({posteriors.begin(), posteriors.begin() + long(end)}, 3));
    const std::size_t count = 1 + random() % 4;
    const std::vector<Result> results = stream.peek(count), expected = unasked.peek(count);
    CHECK(results.size() == expected.size());
    for (std::size_t place = 0; place < results.size(); ++place) {
      CHECK(results[place].labels == expected[place].labels && results[place].frames == expected[place].frames);
    }
  }
}

TEST(many_labels_are_searched_like_few) {
  Random random(4);
  std::vector<std::string> texts;
  for (int label = 0; label < 200; ++label) texts.push_back("l" + std::to_string(label));
  DecoderOptions options;
  options.beam_width = options.result_count = 30;
  const std::vector<float> posteriors = fixtures::random_posteriors(random, 40, 201);
  const std::vector<Result> results = Decoder(Labels(texts), options, nullptr).decode(fixtures::view(posteriors, 201));
  std::vector<std::vector<Label>> transcripts;
  for (const Result& result : results) transcripts.push_back(result.labels);
  std::sort(transcripts.begin(), transcripts.end());
  CHECK(std::unique(transcripts.begin(), transcripts.end()) == transcripts.end());
}

TEST(a_score_threshold_keeps_the_best) {
  Random random(5);
  const std::vector<float> posteriors = fixtures::random_posteriors(random, 30, 4);
  DecoderOptions options;
  options.beam_width = options.result_count = 100;
  const auto best = Decoder(Labels({"x", "y", "z"}), options, nullptr).decode(fixtures::view(posteriors, 4))[0];
  options.score_threshold = 0.5f;
  const auto kept = Decoder(Labels({"x", "y", "z"}), options, nullptr).decode(fixtures::view(posteriors, 4));
  CHECK(kept[0].labels == best.labels);
  CHECK(kept.size() < 100);
  for (const Result& result : kept) CHECK(result.score >= kept[0].score - 0.501);
}

}  // namespace
