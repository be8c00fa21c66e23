/* Prints the text of a recording, and when each of its words begins.
 *
 *     cc transcribe.c $(pkg-config --cflags --libs deepspeech) -o transcribe
 *     ./transcribe output_graph.pb speech.wav [kenlm.scorer]
 *
 * The recording is a WAV file of 16-bit samples, one channel, at the model's sample rate. */
#include <deepspeech.h>
#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void fail(const char* what, const char* why) {
  fprintf(stderr, "transcribe: %s: %s\n", what, why);
  exit(1);
}

/* Finds the samples of a WAV file: after "RIFF", a size and "WAVE" come chunks of a name, a size and content. */
static short* read_samples(const char* path, int sample_rate, unsigned* count) {
  uint8_t head[12], format[16];
  uint32_t size;
  int16_t channels = 0, bits = 0;
  int32_t rate = 0;
  char why[80];
  FILE* file = fopen(path, "rb");
  if (!file) fail(path, strerror(errno));
  if (fread(head, 1, 12, file) != 12 || memcmp(head + 8, "WAVE", 4) != 0) fail(path, "not a WAV file");
  while (fread(head, 1, 8, file) == 8) {
    memcpy(&size, head + 4, 4);
    if (memcmp(head, "fmt ", 4) == 0 && size >= sizeof format) {
      if (fread(format, 1, sizeof format, file) != sizeof format) break;
      memcpy(&channels, format + 2, 2);
      memcpy(&rate, format + 4, 4);
      memcpy(&bits, format + 14, 2);
      size -= sizeof format;
    } else if (memcmp(head, "data", 4) == 0) {
      short* samples = malloc(size ? size : 1);
      if (channels != 1 || bits != 16 || rate != sample_rate) {
        snprintf(why, sizeof why, "not 16-bit mono at %d Hz, the model's sample rate", sample_rate);
        fail(path, why);
      }
      if (!samples) fail(path, "too long for the memory");
      *count = (unsigned)(fread(samples, 1, size, file) / sizeof(short));
      fclose(file);
      return samples;
    }
    fseek(file, (long)(size + size % 2), SEEK_CUR);
  }
  fail(path, "a damaged WAV file");
  return NULL;
}

static void print(const DS_Transcript* transcript) {
  unsigned place;
  printf("%s\nconfidence %.4f\n", transcript->text, transcript->confidence);
  for (place = 0; place < transcript->num_words; ++place) printf("%.2f ", transcript->words[place].start_time);
  printf("\n");
}

int main(int argc, char** argv) {
  ModelState* model;
  StreamingState* stream;
  DS_Transcripts* heard;
  short* samples;
  unsigned count, start;
  if (argc < 3) fail("usage", "transcribe MODEL WAV [SCORER]");
  if (DS_CreateModel(argv[1], &model) != DS_ERR_OK) fail("model", DS_LastErrorMessage());
  if (argc > 3 && DS_EnableExternalScorer(model, argv[3]) != DS_ERR_OK) fail("scorer", DS_LastErrorMessage());
  samples = read_samples(argv[2], DS_GetModelSampleRate(model), &count);

  /* As from a microphone: 20 ms at a time. DS_IntermediateDecode tells the text so far. */
  if (DS_CreateStream(model, &stream) != DS_ERR_OK) fail("stream", DS_LastErrorMessage());
  for (start = 0; start < count; start += 320) {
    DS_FeedAudioContent(stream, samples + start, count - start < 320 ? count - start : 320);
  }
  heard = DS_FinishStreamWithWords(stream, 1);
  if (!heard) fail("stream", DS_LastErrorMessage());
  print(&heard->transcripts[0]);

  DS_FreeTranscripts(heard);
  DS_FreeModel(model);
  free(samples);
  return 0;
}
