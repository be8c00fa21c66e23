#include "c_api/recognition/model.h"

#include <cmath>
#include <utility>

#include "c_api/failure.h"
#include "c_api/recognition/scorers.h"

namespace speech {
namespace {

constexpr std::size_t kMostLabelsPerFrame = 40;  // labels that the search considers, as in DeepSpeech's clients
constexpr float kHighestBoost = 1e30f;           // of a hot word, as a natural logarithm

std::shared_ptr<const AcousticModel> load(const std::string& path, Precision precision) {
  constexpr char kWhatToDo[] = "; give a graph that DeepSpeech 0.6 to 0.9 or this program exported";
  try {
    return std::make_shared<const AcousticModel>(path, precision);
  } catch (const Failure& failure) {
    throw Failure(failure.code(), path + ": " + failure.what() + kWhatToDo);
  } catch (const ctc::Error& error) {  // its file cannot be read
    throw Failure(DS_ERR_FAIL_INIT_MMAP, error.what());
  }
}

ctc::Labels labels_of(const AcousticModel& acoustic) {
  try {
    return ctc::Labels(acoustic.info.labels);
  } catch (const ctc::Error& error) {
    throw Failure(DS_ERR_INVALID_ALPHABET, acoustic.path + ": " + error.what());
  }
}

}  // namespace

Model::Model(const std::string& path, Precision precision)
    : acoustic_(load(path, precision)), labels_(labels_of(*acoustic_)), settings_{acoustic_->info.beam_width, nullptr, 0, 0, {}} {}

std::size_t Model::beam_width() const {
  const std::lock_guard lock(changing_);
  return settings_.beam_width;
}

void Model::set_beam_width(std::size_t beam_width) {
  const std::lock_guard lock(changing_);
  Settings settings = settings_;
  settings.beam_width = beam_width;
  change(std::move(settings));
}

void Model::enable_scorer(const std::string& path) {
  std::shared_ptr<const ctc::Scorer> scorer;
  try {
    scorer = load_scorer(labels_, path);
  } catch (const ctc::Error& error) {
    throw Failure(DS_ERR_INVALID_SCORER, error.what());
  }
  if (acoustic_->info.word_pieces && !scorer->package_defaults()) {
    throw Failure(DS_ERR_INVALID_SCORER,
                  path + " does not say how its words are cut into word pieces; give the scorer package (.scorer) that "
                         "bin/build_lm.py makes with --output_unit wordpieces");
  }
  const std::lock_guard lock(changing_);
  Settings settings = settings_;
  const ctc::DecoderOptions usual;
  const auto& recommended = scorer->package_defaults();
  settings.lm_weight = recommended ? static_cast<float>(recommended->lm_weight) : usual.lm_weight;
  settings.valid_word_count_weight =
      recommended ? static_cast<float>(recommended->valid_word_count_weight) : usual.valid_word_count_weight;
  settings.scorer = std::move(scorer);
  change(std::move(settings));
}

void Model::disable_scorer() {
  const std::lock_guard lock(changing_);
  require_scorer();
  Settings settings = settings_;
  settings.scorer = nullptr;
  change(std::move(settings));
}

void Model::set_weights(float lm_weight, float valid_word_count_weight) {
  const std::lock_guard lock(changing_);
  require_scorer();
  if (!std::isfinite(lm_weight) || !std::isfinite(valid_word_count_weight)) {
    throw Failure(DS_ERR_INVALID_ARGUMENT, "the scorer's alpha and beta must be finite numbers");
  }
  Settings settings = settings_;
  settings.lm_weight = lm_weight;
  settings.valid_word_count_weight = valid_word_count_weight;
  change(std::move(settings));
}

void Model::add_hot_word(const std::string& word, float boost) {
  const std::lock_guard lock(changing_);
  require_scorer();
  if (!(std::abs(boost) <= kHighestBoost)) {
    throw Failure(DS_ERR_FAIL_INSERT_HOTWORD, "the boost of the hot word '" + word + "' must be a number up to 1e30");
  }
  if (!settings_.hot_words.emplace(word, boost).second) {
    throw Failure(DS_ERR_FAIL_INSERT_HOTWORD, "the hot word '" + word + "' was added before; erase it first");
  }
  decoder_ = nullptr;
}

void Model::erase_hot_word(const std::string& word) {
  const std::lock_guard lock(changing_);
  require_scorer();
  if (settings_.hot_words.erase(word) == 0) throw Failure(DS_ERR_FAIL_ERASE_HOTWORD, "'" + word + "' is not a hot word");
  decoder_ = nullptr;
}

void Model::clear_hot_words() {
  const std::lock_guard lock(changing_);
  require_scorer();
  settings_.hot_words.clear();
  decoder_ = nullptr;
}

std::unique_ptr<Recognition> Model::begin() const {
  const std::lock_guard lock(changing_);
  if (!decoder_) decoder_ = make_decoder(settings_);
  return std::make_unique<Recognition>(acoustic_, decoder_, settings_.scorer.get());
}

void Model::check_streams() const {
  if (!acoustic_->why_whole.empty()) {
    throw Failure(DS_ERR_CANNOT_STREAM, acoustic_->path + ": cannot stream, as " + acoustic_->why_whole);
  }
}

std::shared_ptr<const ctc::Decoder> Model::make_decoder(const Settings& settings) const {
  ctc::DecoderOptions options;
  options.beam_width = settings.beam_width;
  options.lm_weight = settings.lm_weight;
  options.valid_word_count_weight = settings.valid_word_count_weight;
  options.sentence_end = false;  // as DeepSpeech's clients score
  options.cutoff_top_n = kMostLabelsPerFrame;
  options.result_count = settings.beam_width;
  if (settings.scorer) {
    for (const auto& [word, boost] : settings.hot_words) {
      if (settings.scorer->can_spell(word)) options.hot_words[word] = boost;
    }
  }
  try {
    return std::make_shared<const ctc::Decoder>(labels_, options, settings.scorer);
  } catch (const ctc::Error& error) {
    throw Failure(DS_ERR_INVALID_ARGUMENT, error.what());
  }
}

// Makes the decoder first, as that may fail, and then sets the settings.
void Model::change(Settings settings) {
  decoder_ = make_decoder(settings);
  settings_ = std::move(settings);
}

void Model::require_scorer() const {
  if (!settings_.scorer) throw Failure(DS_ERR_SCORER_NOT_ENABLED, "this needs a scorer; enable one first");
}

}  // namespace speech
