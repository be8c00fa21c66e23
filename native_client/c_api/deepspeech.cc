#include "c_api/deepspeech.h"

#include <memory>
#include <string>
#include <vector>

#include "c_api/calls.h"
#include "c_api/failure.h"

#ifndef DEEPSPEECH_VERSION
#error "DEEPSPEECH_VERSION is missing; native_client/Makefile takes it from the Python package"
#endif

namespace {

using namespace speech;

char* text_of(const std::vector<Hypothesis>& hypotheses) {
  return given().results.add(hypotheses.empty() ? std::string() : hypotheses[0].text);
}

Metadata* metadata_of(const std::vector<Hypothesis>& hypotheses, const Recognition& recognition) {
  return given().results.add(hypotheses, recognition.step_seconds());
}

}  // namespace

int DS_CreateModel(const char* path, ModelState** retval) {
  return checked([&] { create_model(path, "float32", retval); });
}

void DS_FreeModel(ModelState* model) {
  checked([&] {
    if (model) given().models.remove(model);
  });
}

int DS_GetModelSampleRate(const ModelState* model) {
  return checked_value(0, [&] { return given().models.find(model)->sample_rate(); });
}

unsigned int DS_GetModelBeamWidth(const ModelState* model) {
  return checked_value(0u, [&] { return static_cast<unsigned int>(given().models.find(model)->beam_width()); });
}

int DS_SetModelBeamWidth(ModelState* model, unsigned int beam_width) {
  return checked([&] { given().models.find(model)->set_beam_width(beam_width); });
}

int DS_EnableExternalScorer(ModelState* model, const char* path) {
  return checked([&] {
    const auto found = given().models.find(model);
    require(path, "the scorer's path is NULL");
    found->enable_scorer(path);
  });
}

int DS_DisableExternalScorer(ModelState* model) {
  return checked([&] { given().models.find(model)->disable_scorer(); });
}

int DS_SetScorerAlphaBeta(ModelState* model, float alpha, float beta) {
  return checked([&] { given().models.find(model)->set_weights(alpha, beta); });
}

int DS_AddHotWord(ModelState* model, const char* word, float boost) {
  return checked([&] {
    const auto found = given().models.find(model);
    require(word, "the hot word is NULL");
    found->add_hot_word(word, boost);
  });
}

int DS_EraseHotWord(ModelState* model, const char* word) {
  return checked([&] {
    const auto found = given().models.find(model);
    require(word, "the hot word is NULL");
    found->erase_hot_word(word);
  });
}

int DS_ClearHotWords(ModelState* model) {
  return checked([&] { given().models.find(model)->clear_hot_words(); });
}

char* DS_SpeechToText(ModelState* model, const short* samples, unsigned int count) {
  return checked_value<char*>(nullptr, [&] { return text_of(recognition_of(model, samples, count)->finish(1)); });
}

Metadata* DS_SpeechToTextWithMetadata(ModelState* model, const short* samples, unsigned int count,
                                      unsigned int results) {
  return checked_value<Metadata*>(nullptr, [&] {
    const std::size_t wanted = checked_count(results);
    const auto recognition = recognition_of(model, samples, count);
    return metadata_of(recognition->finish(wanted), *recognition);
  });
}

int DS_CreateStream(ModelState* model, StreamingState** retval) {
  return checked([&] {
    require(retval, "the place for the stream is NULL");
    *retval = nullptr;
    const auto found = given().models.find(model);
    found->check_streams();
    *retval = given().streams.add(std::make_shared<OpenStream>(found->begin()));
  });
}

void DS_FeedAudioContent(StreamingState* stream, const short* samples, unsigned int count) {
  checked([&] {
    const auto found = given().streams.find(stream);
    require_samples(samples, count);
    found->check();
    try {
      found->recognition->feed(samples, count);
    } catch (...) {
      const std::lock_guard lock(found->in_use);
      found->failure = std::current_exception();
      throw;
    }
  });
}

char* DS_IntermediateDecode(const StreamingState* stream) {
  return checked_value<char*>(nullptr, [&] {
    const auto found = given().streams.find(stream);
    found->check();
    return text_of(found->recognition->peek(1));
  });
}

Metadata* DS_IntermediateDecodeWithMetadata(const StreamingState* stream, unsigned int results) {
  return checked_value<Metadata*>(nullptr, [&] {
    const auto found = given().streams.find(stream);
    found->check();
    return metadata_of(found->recognition->peek(checked_count(results)), *found->recognition);
  });
}

char* DS_FinishStream(StreamingState* stream) {
  return checked_value<char*>(nullptr, [&] {
    const auto found = given().streams.remove(stream);
    found->check();
    return text_of(found->recognition->finish(1));
  });
}

Metadata* DS_FinishStreamWithMetadata(StreamingState* stream, unsigned int results) {
  return checked_value<Metadata*>(nullptr, [&] {
    const auto found = given().streams.remove(stream);
    found->check();
    return metadata_of(found->recognition->finish(checked_count(results)), *found->recognition);
  });
}

void DS_FreeStream(StreamingState* stream) {
  checked([&] {
    if (stream) given().streams.remove(stream);
  });
}

void DS_FreeMetadata(Metadata* metadata) {
  checked([&] { given().results.free(metadata); });
}

void DS_FreeString(char* text) {
  checked([&] { given().results.free(text); });
}

char* DS_Version(void) {
  return checked_value<char*>(nullptr, [] { return given().results.add(DEEPSPEECH_VERSION); });
}

char* DS_ErrorCodeToErrorMessage(int code) {
  const char* message = "an unknown code";
#define DS_CASE(NAME, CODE, DESCRIPTION) \
  if (code == CODE) message = DESCRIPTION;
  DS_FOR_EACH_ERROR(DS_CASE)
#undef DS_CASE
  return checked_value<char*>(nullptr, [&] { return given().results.add(message); });
}
