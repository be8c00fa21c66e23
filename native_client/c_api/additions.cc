// The functions that DeepSpeech 0.9.3 does not have.
#include <memory>

#include "c_api/calls.h"
#include "c_api/deepspeech.h"

using namespace speech;

const char* DS_LastErrorMessage(void) { return last_failure().message.c_str(); }

int DS_LastErrorCode(void) { return last_failure().code; }

char* DS_GetModelLanguage(const ModelState* model) {
  return checked_value<char*>(nullptr, [&] { return given().results.add(given().models.find(model)->language()); });
}

int DS_CreateModelWithPrecision(const char* path, const char* precision, ModelState** retval) {
  return checked([&] { create_model(path, precision, retval); });
}

DS_Transcripts* DS_SpeechToTextWithWords(ModelState* model, const short* samples, unsigned int count,
                                         unsigned int results) {
  return checked_value<DS_Transcripts*>(nullptr, [&] {
    const std::size_t wanted = checked_count(results);
    return given().results.add(recognition_of(model, samples, count)->finish_transcripts(wanted));
  });
}

DS_Transcripts* DS_IntermediateDecodeWithWords(const StreamingState* stream, unsigned int results) {
  return checked_value<DS_Transcripts*>(nullptr, [&] {
    const auto found = given().streams.find(stream);
    found->check();
    return given().results.add(found->recognition->peek_transcripts(checked_count(results)));
  });
}

DS_Transcripts* DS_FinishStreamWithWords(StreamingState* stream, unsigned int results) {
  return checked_value<DS_Transcripts*>(nullptr, [&] {
    const auto found = given().streams.remove(stream);
    found->check();
    return given().results.add(found->recognition->finish_transcripts(checked_count(results)));
  });
}

void DS_FreeTranscripts(DS_Transcripts* transcripts) {
  checked([&] { given().results.free(transcripts); });
}
