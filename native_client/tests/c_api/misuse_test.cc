// The C interface: misuse is an error and never a crash.
#include <atomic>
#include <thread>

#include "tests/c_api/loaded.h"
#include "tests/testing.h"

namespace {

using namespace loaded;

TEST(null_arguments_are_errors) {
  const Loaded loaded;
  StreamingState* stream = loaded.stream();
  ModelState* model = nullptr;
  CHECK(DS_CreateModel(loaded.path.c_str(), nullptr) == DS_ERR_INVALID_ARGUMENT);
  CHECK(DS_CreateModel(nullptr, &model) == DS_ERR_NO_MODEL && !model);
  CHECK(DS_CreateModel("", &model) == DS_ERR_NO_MODEL && !model);
  CHECK(DS_CreateModelWithPrecision(loaded.path.c_str(), nullptr, &model) == DS_ERR_INVALID_ARGUMENT && !model);
  CHECK(DS_CreateModelWithPrecision(nullptr, "int8", &model) == DS_ERR_NO_MODEL && !model);
  CHECK(DS_CreateModelWithPrecision(loaded.path.c_str(), "int4", &model) == DS_ERR_INVALID_ARGUMENT && !model);
  CHECK(last_message() == "precision 'int4' is none of float32, bfloat16, int8, auto");
  CHECK(DS_CreateModel(loaded.path.c_str(), &model) == DS_ERR_OK && model);
  DS_FreeModel(model);
  CHECK(DS_GetModelSampleRate(nullptr) == 0 && DS_GetModelBeamWidth(nullptr) == 0);
  CHECK(DS_LastErrorCode() == DS_ERR_INVALID_ARGUMENT && last_message() == "the model is NULL");
  CHECK(DS_SetModelBeamWidth(nullptr, 10) == DS_ERR_INVALID_ARGUMENT);
  CHECK(DS_EnableExternalScorer(nullptr, "x") == DS_ERR_INVALID_ARGUMENT);
  CHECK(DS_EnableExternalScorer(loaded.model, nullptr) == DS_ERR_INVALID_ARGUMENT);
  CHECK(DS_DisableExternalScorer(nullptr) == DS_ERR_INVALID_ARGUMENT);
  CHECK(DS_SetScorerAlphaBeta(nullptr, 1, 1) == DS_ERR_INVALID_ARGUMENT);
  CHECK(DS_AddHotWord(loaded.model, nullptr, 1) == DS_ERR_INVALID_ARGUMENT);
  CHECK(DS_AddHotWord(nullptr, "a", 1) == DS_ERR_INVALID_ARGUMENT);
  CHECK(DS_EraseHotWord(loaded.model, nullptr) == DS_ERR_INVALID_ARGUMENT);
  CHECK(DS_ClearHotWords(nullptr) == DS_ERR_INVALID_ARGUMENT);
  CHECK(!DS_SpeechToText(nullptr, nullptr, 0) && !DS_SpeechToText(loaded.model, nullptr, 5));
  CHECK(!DS_SpeechToTextWithMetadata(nullptr, nullptr, 0, 1) && !DS_SpeechToTextWithMetadata(loaded.model, nullptr, 0, 0));
  CHECK(!DS_SpeechToTextWithWords(nullptr, nullptr, 0, 1) && !DS_SpeechToTextWithWords(loaded.model, nullptr, 5, 1));
  CHECK(!DS_SpeechToTextWithWords(loaded.model, nullptr, 0, 0) && !DS_FinishStreamWithWords(nullptr, 1));
  CHECK(!DS_IntermediateDecodeWithWords(nullptr, 1) && !DS_IntermediateDecodeWithWords(stream, 0));
  DS_FreeTranscripts(nullptr);
  CHECK(DS_CreateStream(loaded.model, nullptr) == DS_ERR_INVALID_ARGUMENT);
  StreamingState* none = stream;
  CHECK(DS_CreateStream(nullptr, &none) == DS_ERR_INVALID_ARGUMENT && !none);
  DS_FeedAudioContent(nullptr, nullptr, 0);
  DS_FeedAudioContent(stream, nullptr, 10);
  CHECK(last_message() == "the samples are NULL");
  CHECK(!DS_IntermediateDecode(nullptr) && !DS_IntermediateDecodeWithMetadata(stream, 0));
  CHECK(!DS_FinishStream(nullptr) && !DS_FinishStreamWithMetadata(nullptr, 1) && !DS_GetModelLanguage(nullptr));
  DS_FreeModel(nullptr);
  DS_FreeStream(nullptr);
  DS_FreeString(nullptr);
  DS_FreeMetadata(nullptr);
  CHECK(taken(DS_FinishStream(stream)) != "NULL");
}

TEST(handles_that_were_freed_or_are_none_are_errors) {
  Loaded loaded;
  const std::vector<short> samples = noise(8000);
  StreamingState* const stream = loaded.stream();
  ModelState* const model = loaded.model;
  loaded.model = nullptr;
  DS_FreeModel(model);
  DS_FreeModel(model);
  CHECK(DS_LastErrorCode() == DS_ERR_INVALID_HANDLE && last_message_has("the model was freed"));
  CHECK(DS_SetModelBeamWidth(model, 5) == DS_ERR_INVALID_HANDLE && DS_GetModelSampleRate(model) == 0);
  CHECK(!DS_SpeechToText(model, samples.data(), size_of(samples)));
  StreamingState* other = nullptr;
  CHECK(DS_CreateStream(model, &other) == DS_ERR_INVALID_HANDLE && !other);
  DS_FeedAudioContent(stream, samples.data(), size_of(samples));
  CHECK(taken(DS_FinishStream(stream)) != "NULL");  // a stream outlives its model
  CHECK(!DS_FinishStream(stream) && DS_LastErrorCode() == DS_ERR_INVALID_HANDLE);
  CHECK(!DS_IntermediateDecode(stream) && !DS_FinishStreamWithMetadata(stream, 1));
  CHECK(!DS_IntermediateDecodeWithWords(stream, 1) && !DS_FinishStreamWithWords(stream, 1));
  DS_FeedAudioContent(stream, samples.data(), size_of(samples));
  DS_FreeStream(stream);
  CHECK(last_message_has("the stream was freed or finished"));
  int place = 0;
  DS_FreeModel(reinterpret_cast<ModelState*>(&place));
  DS_FreeStream(reinterpret_cast<StreamingState*>(&place));
  CHECK(!DS_FinishStream(reinterpret_cast<StreamingState*>(model)));
}

TEST(results_that_were_freed_or_are_none_are_errors) {
  const Loaded loaded;
  const std::vector<short> samples = noise(4000);
  char* const text = DS_SpeechToText(loaded.model, samples.data(), size_of(samples));
  Metadata* const metadata = DS_SpeechToTextWithMetadata(loaded.model, samples.data(), size_of(samples), 3);
  CHECK(text && metadata && metadata->num_transcripts == 3);
  DS_FreeString(text);
  DS_FreeString(text);
  CHECK(DS_LastErrorCode() == DS_ERR_INVALID_HANDLE && last_message_has("the text"));
  DS_FreeMetadata(metadata);
  DS_FreeMetadata(metadata);
  CHECK(last_message_has("the metadata"));
  DS_Transcripts* const words = DS_SpeechToTextWithWords(loaded.model, samples.data(), size_of(samples), 3);
  CHECK(words && words->num_transcripts == 3);
  DS_FreeTranscripts(words);
  DS_FreeTranscripts(words);
  CHECK(last_message_has("the list of transcripts"));
  DS_FreeTranscripts(reinterpret_cast<DS_Transcripts*>(const_cast<ModelState*>(loaded.model)));
  CHECK(DS_LastErrorCode() == DS_ERR_INVALID_HANDLE);
  char local[] = "not ours";
  DS_FreeString(local);
  CHECK(taken(DS_ErrorCodeToErrorMessage(DS_ERR_NO_MODEL)) == "no model was given");
  CHECK(taken(DS_ErrorCodeToErrorMessage(-5)) == "an unknown code" && !taken(DS_Version()).empty());
}

TEST(settings_that_cannot_be_change_nothing) {
  const Loaded loaded;
  CHECK(DS_GetModelSampleRate(loaded.model) == 16000 && taken(DS_GetModelLanguage(loaded.model)) == "xx");
  CHECK(DS_SetModelBeamWidth(loaded.model, 0) == DS_ERR_INVALID_ARGUMENT && DS_GetModelBeamWidth(loaded.model) == 30);
  CHECK(DS_SetModelBeamWidth(loaded.model, 12) == DS_ERR_OK && DS_GetModelBeamWidth(loaded.model) == 12);
  CHECK(DS_DisableExternalScorer(loaded.model) == DS_ERR_SCORER_NOT_ENABLED);
  CHECK(DS_AddHotWord(loaded.model, "a", 1) == DS_ERR_SCORER_NOT_ENABLED);
  CHECK(DS_EnableExternalScorer(loaded.model, "/nowhere") == DS_ERR_INVALID_SCORER && last_message_has("/nowhere"));
  CHECK(DS_EnableExternalScorer(loaded.model, loaded.path.c_str()) == DS_ERR_INVALID_SCORER);
  fixtures::Random random(1);
  const std::string scorer = loaded.folder / "lm.arpa";
  fixtures::write_arpa(scorer, {"ab", "ba", "aab"}, random);
  CHECK(DS_EnableExternalScorer(loaded.model, scorer.c_str()) == DS_ERR_OK);
  CHECK(DS_SetScorerAlphaBeta(loaded.model, NAN, 1) == DS_ERR_INVALID_ARGUMENT);
  CHECK(DS_SetScorerAlphaBeta(loaded.model, 0.5f, 1) == DS_ERR_OK);
  CHECK(DS_AddHotWord(loaded.model, "bb", INFINITY) == DS_ERR_FAIL_INSERT_HOTWORD);
  CHECK(DS_AddHotWord(loaded.model, "bb", 200) == DS_ERR_OK && DS_AddHotWord(loaded.model, "xyz", 200) == DS_ERR_OK);
  CHECK(DS_AddHotWord(loaded.model, "bb", 2) == DS_ERR_FAIL_INSERT_HOTWORD && last_message_has("'bb' was added before"));
  const std::vector<short> samples = noise(8000);
  CHECK(taken(DS_SpeechToText(loaded.model, samples.data(), size_of(samples))).find("bb") != std::string::npos);
  CHECK(DS_EraseHotWord(loaded.model, "ba") == DS_ERR_FAIL_ERASE_HOTWORD);
  CHECK(DS_EraseHotWord(loaded.model, "bb") == DS_ERR_OK && DS_ClearHotWords(loaded.model) == DS_ERR_OK);
  CHECK(DS_DisableExternalScorer(loaded.model) == DS_ERR_OK);
}

TEST(streams_are_as_whole_recordings) {
  const Loaded loaded;
  const std::vector<short> samples = noise(16000);
  for (const std::size_t count : {0u, 1u, 511u, 512u, 513u, 16000u}) {
    const std::string whole = taken(DS_SpeechToText(loaded.model, samples.data(), static_cast<unsigned>(count)));
    for (const std::size_t piece : {100u, 320u, 5000u}) {
      StreamingState* const stream = loaded.stream();
      for (std::size_t start = 0; start < count; start += piece) {
        DS_FeedAudioContent(stream, &samples[start], static_cast<unsigned>(std::min(piece, count - start)));
        if (start % 3200 == 0) CHECK(taken(DS_IntermediateDecode(stream)) != "NULL");
      }
      CHECK(taken(DS_FinishStream(stream)) == whole);
    }
  }
}

TEST(threads_share_models_and_streams) {
  const Loaded loaded;
  const std::vector<short> samples = noise(6000);
  const std::string alone = taken(DS_SpeechToText(loaded.model, samples.data(), size_of(samples)));
  StreamingState* const shared_stream = loaded.stream();
  std::atomic<int> wrong{0}, finished{0};
  const auto work = [&] {
    for (int turn = 0; turn < 5; ++turn) {
      StreamingState* own = nullptr;
      DS_CreateStream(loaded.model, &own);
      DS_FeedAudioContent(own, samples.data(), size_of(samples));
      DS_FeedAudioContent(shared_stream, samples.data(), 500);
      taken(DS_IntermediateDecode(shared_stream));
      DS_SetModelBeamWidth(loaded.model, 30);
      wrong += taken(DS_FinishStream(own)) != alone;
    }
    finished += taken(DS_FinishStream(shared_stream)) != "NULL";  // the other thread may still use it
  };
  std::thread other(work);
  work();
  other.join();
  CHECK(wrong == 0 && finished == 1);
}

TEST(a_network_that_computes_no_probabilities_is_an_error) {
  const Loaded loaded(graphs::tiny_model(1e38f));
  CHECK(loaded.code == DS_ERR_OK);
  const std::vector<short> samples = noise(8000);
  CHECK(!DS_SpeechToText(loaded.model, samples.data(), size_of(samples)));
  CHECK(DS_LastErrorCode() == DS_ERR_FAIL_RUN_SESS && last_message_has("not a probability"));
  StreamingState* const stream = loaded.stream();
  DS_FeedAudioContent(stream, samples.data(), size_of(samples));
  CHECK(!DS_IntermediateDecode(stream) && !DS_FinishStream(stream));
  CHECK(last_message_has("not a probability"));
}

}  // namespace
