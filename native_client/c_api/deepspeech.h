/* Speech to text for programs in C, and in any language that can call C.
 *
 * The first part is the interface of Mozilla DeepSpeech 0.9.3: functions, structures and codes are the same, so that
 * programs written for it compile and link unchanged. The second part is what this library adds. docs/c_api.md has a
 * whole program.
 *
 * Every function may be called by any thread at any time. A mistake of the caller (a null pointer, a freed handle, an
 * invalid argument) is an error and changes nothing: functions that return a code return one other than DS_ERR_OK,
 * functions that return a pointer return NULL, and DS_LastErrorMessage says what was wrong.
 *
 * Texts are UTF-8. Audio is 16-bit samples of one channel at the model's sample rate, DS_GetModelSampleRate. */
#ifndef DEEPSPEECH_H
#define DEEPSPEECH_H

#if defined(__GNUC__)
#define DEEPSPEECH_EXPORT __attribute__((visibility("default")))
#else
#define DEEPSPEECH_EXPORT
#endif

#ifdef __cplusplus
extern "C" {
#endif

/* A model with its settings; a setting applies to the utterances that begin after it is changed. */
typedef struct ModelState ModelState;

/* One utterance whose audio comes bit by bit. */
typedef struct StreamingState StreamingState;

/* A label of a transcript: a character, or a longer label of the model's alphabet; for a model of bytes, all bytes of a
 * character. */
typedef struct TokenMetadata {
  const char* const text;
  const unsigned int timestep; /* the frame at which it appears, from 0 */
  const float start_time;      /* the same in seconds */
} TokenMetadata;

/* A transcript. Its confidence is the score of the search, a natural logarithm; higher is better. */
typedef struct CandidateTranscript {
  const TokenMetadata* const tokens;
  const unsigned int num_tokens;
  const double confidence;
} CandidateTranscript;

/* Transcripts of the same audio, best first. */
typedef struct Metadata {
  const CandidateTranscript* const transcripts;
  const unsigned int num_transcripts;
} Metadata;

/* Calls APPLY(name, code, description) for every code. Codes from 0x4000 on are this library's own. */
#define DS_FOR_EACH_ERROR(APPLY)                                                                       \
  APPLY(DS_ERR_OK, 0x0000, "no error")                                                                 \
  APPLY(DS_ERR_NO_MODEL, 0x1000, "no model was given")                                                 \
  APPLY(DS_ERR_INVALID_ALPHABET, 0x2000, "the model's alphabet is damaged")                            \
  APPLY(DS_ERR_INVALID_SHAPE, 0x2001, "the model's layers or features do not fit together")            \
  APPLY(DS_ERR_INVALID_SCORER, 0x2002, "the scorer cannot be used")                                    \
  APPLY(DS_ERR_MODEL_INCOMPATIBLE, 0x2003, "this library does not support this kind of model")         \
  APPLY(DS_ERR_SCORER_NOT_ENABLED, 0x2004, "this needs a scorer, but none is enabled")                 \
  APPLY(DS_ERR_SCORER_UNREADABLE, 0x2005, "the scorer's file cannot be read")                          \
  APPLY(DS_ERR_SCORER_INVALID_LM, 0x2006, "the scorer's language model is damaged")                    \
  APPLY(DS_ERR_SCORER_NO_TRIE, 0x2007, "the scorer has no words")                                      \
  APPLY(DS_ERR_SCORER_INVALID_TRIE, 0x2008, "the scorer's words are damaged")                          \
  APPLY(DS_ERR_SCORER_VERSION_MISMATCH, 0x2009, "the scorer has an unsupported version")               \
  APPLY(DS_ERR_FAIL_INIT_MMAP, 0x3000, "the model's file cannot be read")                              \
  APPLY(DS_ERR_FAIL_INIT_SESS, 0x3001, "the model cannot be prepared")                                 \
  APPLY(DS_ERR_FAIL_INTERPRETER, 0x3002, "the interpreter failed")                                     \
  APPLY(DS_ERR_FAIL_RUN_SESS, 0x3003, "the model's output is not a probability")                       \
  APPLY(DS_ERR_FAIL_CREATE_STREAM, 0x3004, "the stream cannot be begun")                               \
  APPLY(DS_ERR_FAIL_READ_PROTOBUF, 0x3005, "the model's file is not an exported graph, or is damaged") \
  APPLY(DS_ERR_FAIL_CREATE_SESS, 0x3006, "the model cannot be run")                                    \
  APPLY(DS_ERR_FAIL_CREATE_MODEL, 0x3007, "the model cannot be loaded")                                \
  APPLY(DS_ERR_FAIL_INSERT_HOTWORD, 0x3008, "the hot word cannot be added")                            \
  APPLY(DS_ERR_FAIL_CLEAR_HOTWORD, 0x3009, "the hot words cannot be removed")                          \
  APPLY(DS_ERR_FAIL_ERASE_HOTWORD, 0x3010, "it is not a hot word")                                     \
  APPLY(DS_ERR_INVALID_ARGUMENT, 0x4000, "an argument has an invalid value")                           \
  APPLY(DS_ERR_INVALID_HANDLE, 0x4001, "it was freed before, or is not a handle of this library")      \
  APPLY(DS_ERR_OUT_OF_MEMORY, 0x4002, "this needs more memory than there is")                          \
  APPLY(DS_ERR_INTERNAL, 0x4003, "an internal error")                                                  \
  APPLY(DS_ERR_CANNOT_STREAM, 0x4004, "the model needs whole recordings")

enum DeepSpeech_Error_Codes {
#define DS_DEFINE_CODE(NAME, CODE, DESCRIPTION) NAME = CODE,
  DS_FOR_EACH_ERROR(DS_DEFINE_CODE)
#undef DS_DEFINE_CODE
};

/* Loads an exported graph, a .pb or .pbmm file, into *retval; sets it to NULL if the graph cannot be used. */
DEEPSPEECH_EXPORT int DS_CreateModel(const char* aModelPath, ModelState** retval);

/* Frees a model. Its streams can still be used. */
DEEPSPEECH_EXPORT void DS_FreeModel(ModelState* ctx);

/* The sample rate that audio must have, in Hz; 0 after an error. */
DEEPSPEECH_EXPORT int DS_GetModelSampleRate(const ModelState* aCtx);

/* How many hypotheses the search keeps; the graph holds the initial number. 0 after an error. More are slower and
 * sometimes better. */
DEEPSPEECH_EXPORT unsigned int DS_GetModelBeamWidth(const ModelState* aCtx);
DEEPSPEECH_EXPORT int DS_SetModelBeamWidth(ModelState* aCtx, unsigned int aBeamWidth);

/* Decodes with a language model from now on: a scorer package, or a KenLM file with its vocabulary. If it cannot be
 * used, the model does not change. */
DEEPSPEECH_EXPORT int DS_EnableExternalScorer(ModelState* aCtx, const char* aScorerPath);
DEEPSPEECH_EXPORT int DS_DisableExternalScorer(ModelState* aCtx);

/* Sets the weight of the language model and the bonus for each of its words, in place of the scorer's own. */
DEEPSPEECH_EXPORT int DS_SetScorerAlphaBeta(ModelState* aCtx, float aAlpha, float aBeta);

/* Makes a word or a phrase more likely by `boost`, a natural logarithm, or less likely if it is negative. A word that
 * cannot be spelled in the model's alphabet has no effect. All of these functions need a scorer. */
DEEPSPEECH_EXPORT int DS_AddHotWord(ModelState* aCtx, const char* word, float boost);
DEEPSPEECH_EXPORT int DS_EraseHotWord(ModelState* aCtx, const char* word);
DEEPSPEECH_EXPORT int DS_ClearHotWords(ModelState* aCtx);

/* The text of samples, to be freed with DS_FreeString; or up to `aNumResults` transcripts, with DS_FreeMetadata. */
DEEPSPEECH_EXPORT char* DS_SpeechToText(ModelState* aCtx, const short* aBuffer, unsigned int aBufferSize);
DEEPSPEECH_EXPORT Metadata* DS_SpeechToTextWithMetadata(ModelState* aCtx, const short* aBuffer,
                                                        unsigned int aBufferSize, unsigned int aNumResults);

/* Begins an utterance in *retval; sets it to NULL if that fails. For a model that needs whole recordings, it fails with
 * DS_ERR_CANNOT_STREAM. */
DEEPSPEECH_EXPORT int DS_CreateStream(ModelState* aCtx, StreamingState** retval);

/* Takes samples. The next function that returns a result reports an error of the network. */
DEEPSPEECH_EXPORT void DS_FeedAudioContent(StreamingState* aSctx, const short* aBuffer, unsigned int aBufferSize);

/* The transcript so far; its last word may be unfinished. */
DEEPSPEECH_EXPORT char* DS_IntermediateDecode(const StreamingState* aSctx);
DEEPSPEECH_EXPORT Metadata* DS_IntermediateDecodeWithMetadata(const StreamingState* aSctx, unsigned int aNumResults);

/* The transcript. The stream is freed, even after an error. */
DEEPSPEECH_EXPORT char* DS_FinishStream(StreamingState* aSctx);
DEEPSPEECH_EXPORT Metadata* DS_FinishStreamWithMetadata(StreamingState* aSctx, unsigned int aNumResults);

/* Frees a stream without a result. */
DEEPSPEECH_EXPORT void DS_FreeStream(StreamingState* aSctx);

DEEPSPEECH_EXPORT void DS_FreeMetadata(Metadata* m);
DEEPSPEECH_EXPORT void DS_FreeString(char* str);

/* The library's version, to be freed with DS_FreeString. */
DEEPSPEECH_EXPORT char* DS_Version(void);

/* The general meaning of a code, to be freed with DS_FreeString; DS_LastErrorMessage says what happened. */
DEEPSPEECH_EXPORT char* DS_ErrorCodeToErrorMessage(int aErrorCode);

/* ---- Functions that DeepSpeech 0.9.3 does not have ---- */

/* The error of the last function of this library that failed on this thread, in a line that names the file or the
 * argument; empty if none failed. It is valid until the next function fails on this thread, and must not be freed. */
DEEPSPEECH_EXPORT const char* DS_LastErrorMessage(void);

/* The code of the same error, DS_ERR_OK if there was none; for functions that return no code. */
DEEPSPEECH_EXPORT int DS_LastErrorCode(void);

/* Loads a graph as DS_CreateModel does, computed in a precision: "float32", as with DS_CreateModel, "bfloat16", "int8",
 * or "auto", which is int8 if the processor has special instructions for it, or else float32. */
DEEPSPEECH_EXPORT int DS_CreateModelWithPrecision(const char* aModelPath, const char* aPrecision, ModelState** retval);

/* A word of a transcript, with the times in seconds from and to which it is said, and the probability that it is right,
 * between 0 and 1. In a text without spaces, such as Chinese, it is a phrase, with the lowest of its characters'
 * confidences. */
typedef struct DS_Word {
  const char* const text;
  const double start_time;
  const double end_time;
  const double confidence;
} DS_Word;

/* A transcript with its words. Its confidence is the score of the search, a natural logarithm; higher is better. */
typedef struct DS_Transcript {
  const char* const text;
  const DS_Word* const words;
  const unsigned int num_words;
  const double confidence;
} DS_Transcript;

/* Transcripts of the same audio, best first. */
typedef struct DS_Transcripts {
  const DS_Transcript* const transcripts;
  const unsigned int num_transcripts;
} DS_Transcripts;

/* Up to `aNumResults` transcripts of samples, of a stream so far, or of a stream that ends and is freed, even after an
 * error; to be freed with DS_FreeTranscripts. */
DEEPSPEECH_EXPORT DS_Transcripts* DS_SpeechToTextWithWords(ModelState* aCtx, const short* aBuffer,
                                                           unsigned int aBufferSize, unsigned int aNumResults);
DEEPSPEECH_EXPORT DS_Transcripts* DS_IntermediateDecodeWithWords(const StreamingState* aSctx, unsigned int aNumResults);
DEEPSPEECH_EXPORT DS_Transcripts* DS_FinishStreamWithWords(StreamingState* aSctx, unsigned int aNumResults);
DEEPSPEECH_EXPORT void DS_FreeTranscripts(DS_Transcripts* aTranscripts);

/* The language that the model records, such as "en-US", to be freed with DS_FreeString; empty if it records none. */
DEEPSPEECH_EXPORT char* DS_GetModelLanguage(const ModelState* aCtx);

#ifdef __cplusplus
}
#endif

#endif /* DEEPSPEECH_H */
