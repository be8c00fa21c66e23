// The C interface runs networks that describe themselves, on all features.
#include "c_api/graph/json.h"

#include <algorithm>

#include "tests/c_api/loaded.h"
#include "tests/testing.h"

namespace {

using namespace loaded;
using graphs::DescribedNetwork;

DescribedNetwork streaming(std::uint64_t coefficients = 6) {
  DescribedNetwork network(coefficients);
  network.convolution(1, 3, 2).convolution(3, 2, 1).normalization().lstm(7).projection(5).normalization();
  return network.dense(9, "20.0").dense(graphs::kLabels + 1);
}

DescribedNetwork whole() {
  DescribedNetwork network(6);
  return network.convolution(1, 3, 3).bidirectional(5).normalization().dense(graphs::kLabels + 1);
}

DescribedNetwork chunked() {
  DescribedNetwork network(6);
  network.convolution(1, 3, 2).chunked(5, 4).normalization().chunked(7, 4, 2).chunked(3, 3);
  return network.dense(graphs::kLabels + 1);
}

DescribedNetwork conformer(std::uint64_t chunk, std::uint64_t left, std::uint64_t after) {
  DescribedNetwork network(6);
  network.convolution(1, 2, 2).projection(8).feed_forward(9).attention(2, chunk, left).convolution_module(3, after);
  return network.feed_forward(7).normalization().dense(graphs::kLabels + 1);
}

std::string whole_text(const Loaded& loaded, const std::vector<short>& samples) {
  return taken(DS_SpeechToText(loaded.model, samples.data(), size_of(samples)));
}

void check_streams(const Loaded& loaded) {
  CHECK(loaded.code == DS_ERR_OK);
  for (const std::size_t count : {0u, 1u, 79u, 80u, 401u, 9000u}) {
    const std::vector<short> samples = noise(count);
    const std::string whole = whole_text(loaded, samples);
    CHECK(whole != "NULL" && (count < 9000 || !whole.empty()));
    for (const std::size_t piece : {70u, 320u, 5000u}) {
      StreamingState* const stream = loaded.stream();
      for (std::size_t start = 0; start < count; start += piece) {
        DS_FeedAudioContent(stream, &samples[start], static_cast<unsigned>(std::min(piece, count - start)));
        if (start % 1600 == 0) CHECK(taken(DS_IntermediateDecode(stream)) != "NULL");
      }
      CHECK(taken(DS_FinishStream(stream)) == whole);
    }
  }
}

TEST(described_networks_stream_as_whole_recordings_on_all_features) {
  check_streams(Loaded(streaming().graph(graphs::fbank())));
  check_streams(Loaded(streaming().graph(graphs::fbank("\"normalization\": \"global\""))));
  check_streams(Loaded(streaming(18).graph(graphs::fbank("\"stack_frames\": 3, \"skip_frames\": 2"))));
  check_streams(Loaded(streaming(12).graph(
      graphs::fbank("\"normalization\": \"running\", \"stack_frames\": 2, \"skip_frames\": 3"))));
}

TEST(conformers_and_lstms_stream_in_chunks) {
  check_streams(Loaded(chunked().graph(graphs::fbank())));
  check_streams(Loaded(conformer(4, 6, 0).graph(graphs::fbank())));
  check_streams(Loaded(conformer(3, 0, 2).graph(graphs::fbank("\"normalization\": \"global\""))));
}

TEST(networks_stream_in_every_precision) {
  for (const char* const precision : {"bfloat16", "int8", "auto"}) {
    check_streams(Loaded(graphs::tiny_model(), precision));
    check_streams(Loaded(streaming().graph(graphs::fbank()), precision));
    check_streams(Loaded(chunked().graph(graphs::fbank()), precision));
    check_streams(Loaded(conformer(4, 6, 0).graph(graphs::fbank()), precision));
  }
}

TEST(models_that_need_whole_recordings_refuse_streams_and_say_why) {
  const Loaded bidirectional(whole().graph(graphs::fbank()));
  const Loaded normalized(streaming().graph(graphs::fbank("\"normalization\": \"utterance\"")));
  const Loaded attentive(conformer(0, 0, 1).graph(graphs::fbank()));
  for (const Loaded* const loaded : {&bidirectional, &normalized, &attentive}) {
    CHECK(loaded->code == DS_ERR_OK);
    for (const std::size_t count : {0u, 100u, 9000u}) CHECK(whole_text(*loaded, noise(count)) != "NULL");
    CHECK(!whole_text(*loaded, noise(9000)).empty());
    StreamingState* stream = nullptr;
    CHECK(DS_CreateStream(loaded->model, &stream) == DS_ERR_CANNOT_STREAM && !stream);
    CHECK(last_message_has(loaded->path + ": cannot stream, as its "));
    CHECK(loaded != &bidirectional || last_message_has("layer layer_2 is a BidirectionalLSTM"));
    CHECK(loaded != &normalized || last_message_has("features are normalized"));
    CHECK(loaded != &attentive || last_message_has("layer layer_4 is a SelfAttention"));
  }
}

TEST(words_have_times_and_confidences_whole_and_streamed) {
  const std::vector<short> samples = noise(16000);
  for (const std::string& graph : {graphs::tiny_model(), streaming().graph(graphs::fbank())}) {
    const Loaded loaded(graph);
    StreamingState* const stream = loaded.stream();
    DS_FeedAudioContent(stream, samples.data(), size_of(samples));
    DS_Transcripts* const all[] = {DS_SpeechToTextWithWords(loaded.model, samples.data(), size_of(samples), 2),
                                   DS_IntermediateDecodeWithWords(stream, 2), DS_FinishStreamWithWords(stream, 2)};
    CHECK(std::string(all[0]->transcripts[0].text) == all[2]->transcripts[0].text);
    CHECK(all[0]->transcripts[0].text == whole_text(loaded, samples));
    for (DS_Transcripts* const found : all) {
      CHECK(found && found->num_transcripts == 2 && found->transcripts[0].num_words > 0);
      double last = 0;
      std::string text;
      for (unsigned place = 0; place < found->transcripts[0].num_words; ++place) {
        const DS_Word& word = found->transcripts[0].words[place];
        CHECK(word.start_time >= last && word.start_time < word.end_time && word.confidence > 0 && word.confidence < 1);
        last = word.start_time;
        text += word.text;
      }
      std::string letters = found->transcripts[0].text;
      letters.erase(std::remove(letters.begin(), letters.end(), ' '), letters.end());
      CHECK(text == letters);
      DS_FreeTranscripts(found);
    }
  }
}

TEST(networks_and_features_that_cannot_be_run_are_refused_with_a_reason) {
  const std::string graph = streaming().graph(graphs::fbank());
  const auto refused = [](const std::string& other, int code, const std::string& part) {
    const Loaded loaded(other);
    CHECK(loaded.code == code && !loaded.model);
    CHECK(last_message_has(part) && last_message_has(loaded.path));
  };
  const auto network = [&](const std::string& layers) {
    return graph + graphs::text("metadata_network", "{\"name\": \"x\", \"layers\": [" + layers + "]}");
  };
  const auto layer = [](const std::string& kind, const std::string& settings) {
    return "{\"layer\": \"" + kind + "\", \"name\": \"layer_1\", " + settings + "}";
  };
  const std::string logits = R"({"layer": "Dense", "name": "last", "units": 4, "clip": null})";
  const auto convolution = [&](const std::string& sizes) {
    return network(layer("Convolution", "\"frequency_stride\": 1, \"clip\": null, " + sizes) + ", " + logits);
  };
  refused(graph + graphs::text("metadata_network", "{}"), DS_ERR_FAIL_READ_PROTOBUF, "not described in JSON");
  refused(network(""), DS_ERR_INVALID_SHAPE, "does not end in a dense layer");
  refused(network(logits + ", " + logits), DS_ERR_INVALID_SHAPE, "two layers of its network have the name last");
  refused(network(layer("Whisper", "\"units\": 3")), DS_ERR_MODEL_INCOMPATIBLE, "a layer of the kind Whisper");
  refused(network(layer("LSTM", "\"units\": -3")), DS_ERR_INVALID_SHAPE, "is not one of a LSTM");
  refused(network(layer("LSTM", "\"units\": 2.5")), DS_ERR_INVALID_SHAPE, "is not one of a LSTM");
  refused(network(layer("LSTM", "\"width\": 2")), DS_ERR_INVALID_SHAPE, "is not one of a LSTM");
  refused(network(logits), DS_ERR_FAIL_READ_PROTOBUF, "it has no node last/bias");
  refused(network(layer("ChunkedLSTM", "\"units\": 2, \"chunk\": 0") + ", " + logits), DS_ERR_INVALID_SHAPE,
          "the chunks of layer layer_1 have no rows");
  refused(network(layer("ChunkedLSTM", "\"units\": 2, \"chunk\": 3, \"offset\": 3") + ", " + logits), DS_ERR_INVALID_SHAPE,
          "the chunks of layer layer_1 have no rows");
  refused(network(layer("ChunkedLSTM", "\"units\": 2, \"chunk\": 3, \"ofset\": 2")), DS_ERR_INVALID_SHAPE,
          "is not one of a ChunkedLSTM");
  refused(network(layer("LSTM", "\"units\": 0") + ", " + logits), DS_ERR_INVALID_SHAPE, "do not fit together");
  refused(network(layer("LSTM", "\"units\": 1000000") + ", " + logits), DS_ERR_INVALID_SHAPE, "cannot hold");
  refused(network(layer("Projection", "\"units\": 1000000") + ", " + logits), DS_ERR_INVALID_SHAPE, "do not fit together");
  refused(convolution(R"("channels": 3, "input_channels": 1, "time": 1000000, "frequency": 3, "time_stride": 2)"),
          DS_ERR_INVALID_SHAPE, "is too large to be run");
  refused(convolution(R"("channels": 3, "input_channels": 4, "time": 3, "frequency": 3, "time_stride": 2)"),
          DS_ERR_INVALID_SHAPE, "not those of its channels");
  refused(convolution(R"("channels": 3, "input_channels": 1, "time": 3, "frequency": 3, "time_stride": 4)"),
          DS_ERR_INVALID_SHAPE, "leaves frames out");
  refused(network(layer("SelfAttention", "\"heads\": 4, \"chunk\": 0, \"left\": 0") + ", " + logits), DS_ERR_INVALID_SHAPE,
          "4 heads, which cannot share 6 numbers in pairs");
  refused(network(layer("ConvolutionModule", "\"before\": 1000000, \"after\": 1000000") + ", " + logits),
          DS_ERR_FAIL_READ_PROTOBUF, "it has no node layer_1/normalization/scale");
  refused(network(layer("ContextWindow", "\"frames\": 1") + ", " + logits), DS_ERR_INVALID_SHAPE, "does not fit");
  refused(graph + graphs::text("metadata_confidence", R"({"acoustic": {"bias": 1, "agreement": 2}})"),
          DS_ERR_FAIL_READ_PROTOBUF, "calibration of its confidences is damaged");
  const std::string weights = R"({"bias": 0, "agreement": -1e300, "clarity": 1e300})";  // of which infinities cancel out
  refused(graph + graphs::text("metadata_confidence", R"({"acoustic": )" + weights + R"(, "language_model": )" + weights + "}"),
          DS_ERR_FAIL_READ_PROTOBUF, "calibration of its confidences is damaged");
  const auto features = [&](const std::string& settings) { return graph + graphs::text("metadata_features", settings); };
  refused(features("[1"), DS_ERR_FAIL_READ_PROTOBUF, "not described in JSON");
  refused(features(graphs::fbank("\"unknown\": 3")), DS_ERR_FAIL_READ_PROTOBUF, "not described in JSON");
  refused(features(graphs::fbank("\"feature_type\": \"psf\"")), DS_ERR_MODEL_INCOMPATIBLE, "features of psf");
  refused(features(graphs::fbank("\"normalization\": \"x\"")), DS_ERR_MODEL_INCOMPATIBLE, "unknown normalization");
  refused(features(graphs::fbank("\"step_ms\": 30")), DS_ERR_INVALID_SHAPE, "windows of 25 ms every 30 ms");
  refused(features(graphs::fbank("\"window_ms\": 0")), DS_ERR_INVALID_SHAPE, "window_ms is not a number");
  refused(features(graphs::fbank("\"stack_frames\": 2")), DS_ERR_INVALID_SHAPE, "frames of 6 numbers");
  refused(features(graphs::fbank("\"coefficients\": 300")), DS_ERR_INVALID_SHAPE, "frames of 6 numbers");
  refused(features(graphs::fbank("\"normalization\": \"global\", \"coefficients\": 5")), DS_ERR_INVALID_SHAPE,
          "statistics of its features are damaged");
}

TEST(damaged_networks_are_refused_or_run) {
  const std::string kinds[] = {
      streaming(12).graph(graphs::fbank("\"normalization\": \"running\", \"stack_frames\": 2")),
      conformer(4, 3, 1).graph(graphs::fbank()),
      whole().graph(graphs::fbank("\"normalization\": \"utterance\"")),
  };
  const std::vector<short> samples = noise(1000);
  fixtures::Random random(13);
  for (int turn = 0; turn < 900; ++turn) {
    const std::string& graph = kinds[turn % 3];
    const std::size_t described = graph.find("metadata_features");
    std::string damaged = turn % 10 ? graph : graph.substr(0, random() % graph.size());
    for (int change = turn / 3 % 3; change >= 0 && !damaged.empty(); --change) {
      // Damage to the network's description tests more than damage to its weights.
      std::size_t place = random() % damaged.size();
      if (turn % 2) place = described + random() % (graph.size() - described);
      const bool digit = turn % 4 == 1;
      damaged[std::min(place, damaged.size() - 1)] = static_cast<char>(digit ? '0' + random() % 10 : random());
    }
    const Loaded loaded(damaged);
    CHECK((loaded.code == DS_ERR_OK) == (loaded.model != nullptr));
    CHECK(loaded.model || last_message_has(loaded.path));
    if (loaded.model && turn % 8 == 1) taken(DS_SpeechToText(loaded.model, samples.data(), size_of(samples)));
  }
}

TEST(json_is_read_and_what_is_none_is_refused) {
  using speech::Json;
  const auto value = Json::parse(R"( {"a": [1, -2.5e1, "\u00e9\ud83d\ude00\n"], "b": {}, "a2": null, "b": true} )");
  CHECK(value && value->is_object() && value->find("a")->array()->size() == 3 && !value->find("c"));
  const std::vector<Json>& list = *value->find("a")->array();
  CHECK(*list[0].number() == 1 && list[0].is_integer() && *list[1].number() == -25 && !list[1].is_integer());
  CHECK(*list[2].text() == "\xC3\xA9\xF0\x9F\x98\x80\n" && value->find("a2")->is_null() && !value->find("b")->is_object());
  std::string deep(100, '['), many = "[0";
  for (int place = 0; place < 100000; ++place) many += ",0";
  for (const std::string& text : {std::string(), deep, many + "]", std::string("{\"a\" 1}"), std::string("[1,]"),
                                  std::string("[1] 2"), std::string("\"\\ud83d\""), std::string("NaN"),
                                  std::string("+1"), std::string("-"), std::string("1e999"), std::string("\"\xFF\""),
                                  std::string("\"\n\""), std::string("\"\\u12\""), std::string("tru")}) {
    CHECK(!Json::parse(text));
  }
}

}  // namespace
