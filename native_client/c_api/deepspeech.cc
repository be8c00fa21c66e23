#include "c_api/deepspeech.h"

#include <climits>
#include <exception>
#include <memory>
#include <new>
#include <string>
#include <utility>

#include "c_api/failure.h"
#include "c_api/handles.h"
#include "c_api/recognition/model.h"
#include "c_api/results.h"

#ifndef DEEPSPEECH_VERSION
#error "DEEPSPEECH_VERSION is missing; native_client/Makefile takes it from the Python package"
#endif

namespace {

using speech::Failure;
using speech::Hypothesis;
using speech::Model;
using speech::Recognition;

// A stream, with the failure of a feed that had no way to tell of it.
struct OpenStream {
  explicit OpenStream(std::unique_ptr<Recognition> begun) : recognition(std::move(begun)) {}

  // Throws that failure.
  void check() {
    const std::lock_guard lock(in_use);
    if (failure) std::rethrow_exception(failure);
  }

  const std::unique_ptr<Recognition> recognition;
  std::mutex in_use;
  std::exception_ptr failure;
};

// What callers have. It is never destroyed, as a caller may free something while the process ends.
struct Given {
  speech::Handles<ModelState, Model> models{"the model"};
  speech::Handles<StreamingState, OpenStream> streams{"the stream"};
  speech::Results results;
};

Given& given() {
  static Given& all = *new Given;
  return all;
}

// The last failure on a thread. Nothing here may throw.
struct LastFailure {
  int code = DS_ERR_OK;
  std::string message;

  int set(int new_code, const char* what) noexcept {
    code = new_code;
    try {
      message = what;
    } catch (const std::exception&) {
      message.clear();
    }
    return code;
  }
};

LastFailure& last_failure() {
  thread_local LastFailure failure;
  return failure;
}

// Runs what may throw, and returns its code.
template <class Work>
int checked(const Work& work) noexcept {
  try {
    work();
    return DS_ERR_OK;
  } catch (const Failure& failure) {
    return last_failure().set(failure.code(), failure.what());
  } catch (const std::bad_alloc&) {
    return last_failure().set(DS_ERR_OUT_OF_MEMORY, "this needs more memory than there is");
  } catch (const std::length_error&) {
    return last_failure().set(DS_ERR_OUT_OF_MEMORY, "this needs more memory than there is");
  } catch (const std::exception& error) {
    return last_failure().set(DS_ERR_INTERNAL, error.what());
  }
}

// The same of what returns a value; `failed` stands for it if it throws.
template <class Value, class Work>
Value checked_value(Value failed, const Work& work) noexcept {
  Value value = failed;
  checked([&] { value = work(); });
  return value;
}

void require(bool condition, const char* what) {
  if (!condition) throw Failure(DS_ERR_INVALID_ARGUMENT, what);
}

void require_samples(const short* samples, unsigned int count) {
  require(samples || count == 0, "the samples are NULL");
}

std::size_t checked_count(unsigned int count) {
  require(count >= 1 && count <= INT_MAX, "the number of results must be 1 or more");
  return count;
}

char* text_of(const std::vector<Hypothesis>& hypotheses) {
  return given().results.add(hypotheses.empty() ? std::string() : hypotheses[0].text);
}

std::vector<Hypothesis> recognized(ModelState* model, const short* samples, unsigned int count, std::size_t results,
                                   double* step_seconds = nullptr) {
  const std::shared_ptr<Model> found = given().models.find(model);
  require_samples(samples, count);
  const std::unique_ptr<Recognition> recognition = found->begin();
  if (step_seconds) *step_seconds = recognition->step_seconds();
  recognition->feed(samples, count);
  return recognition->finish(results);
}

}  // namespace

int DS_CreateModel(const char* path, ModelState** retval) {
  return checked([&] {
    require(retval, "the place for the model is NULL");
    *retval = nullptr;
    if (!path || !*path) throw Failure(DS_ERR_NO_MODEL, "no model was given");
    *retval = given().models.add(std::make_shared<Model>(path));
  });
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
  return checked([&] {
    const auto found = given().models.find(model);
    require(beam_width >= 1 && beam_width <= INT_MAX, "the beam width must be 1 or more");
    found->set_beam_width(beam_width);
  });
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
  return checked_value<char*>(nullptr, [&] { return text_of(recognized(model, samples, count, 1)); });
}

Metadata* DS_SpeechToTextWithMetadata(ModelState* model, const short* samples, unsigned int count,
                                      unsigned int results) {
  return checked_value<Metadata*>(nullptr, [&] {
    double step_seconds = 0;
    const auto hypotheses = recognized(model, samples, count, checked_count(results), &step_seconds);
    return given().results.add(hypotheses, step_seconds);
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
    const auto hypotheses = found->recognition->peek(checked_count(results));
    return given().results.add(hypotheses, found->recognition->step_seconds());
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
    const auto hypotheses = found->recognition->finish(checked_count(results));
    return given().results.add(hypotheses, found->recognition->step_seconds());
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

const char* DS_LastErrorMessage(void) { return last_failure().message.c_str(); }

int DS_LastErrorCode(void) { return last_failure().code; }

char* DS_GetModelLanguage(const ModelState* model) {
  return checked_value<char*>(nullptr, [&] { return given().results.add(given().models.find(model)->language()); });
}
