// The shared library deepspeech._standard_error: a stream for C's variable `stderr`, as
// deepspeech/util/files/quiet_mpg123.py puts it there. It must not run Python: the thread that prints may hold the
// dynamic loader's lock while another thread holds Python's lock and waits for the loader's.
#include <sys/types.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <cstdio>
#include <iterator>
#include <string_view>

namespace {

// How libmpg123's lines begin, after spaces; # is a digit.
constexpr std::string_view kBeginnings[] = {
    "[src/libmpg123/",
    "mpg123: ",
    "Note: Illegal Audio-MPEG",
    "Note: Trying to resync",
    "Note: Skipped #",
    "Note: Hit end of",
    "Note: Frankenstein",
    "Note: missing #",
    "Warning: Xing ",
    "Warning: Real sample count",
    "Warning: Encountered more data",
};

bool is_of_mpg123(std::string_view printed) {
  printed.remove_prefix(std::min(printed.find_first_not_of(" \t\n\v\f\r"), printed.size()));
  const auto fits = [](char expected, char found) {
    return expected == '#' ? found >= '0' && found <= '9' : expected == found;
  };
  return std::any_of(std::begin(kBeginnings), std::end(kBeginnings), [&](std::string_view beginning) {
    return beginning.size() <= printed.size() && std::equal(beginning.begin(), beginning.end(), printed.begin(), fits);
  });
}

// Prints one or more lines, unless they are libmpg123's; returns the number of bytes handled, as fopencookie(3)
// requires.
[[maybe_unused]] ssize_t pass_on(void*, const char* printed, std::size_t size) {
  if (is_of_mpg123({printed, size})) return static_cast<ssize_t>(size);
  ssize_t written;
  do {
    written = write(STDERR_FILENO, printed, size);
  } while (written < 0 && errno == EINTR);
  return std::max<ssize_t>(written, 0);
}

}  // namespace

// Returns a new stream to standard error that drops libmpg123's lines; null if the C library has no such streams, or if
// there is no memory.
extern "C" __attribute__((visibility("default"))) std::FILE* deepspeech_stream_without_mpg123() {
#ifdef __GLIBC__
  std::FILE* const stream = fopencookie(nullptr, "w", {nullptr, pass_on, nullptr, nullptr});
  if (stream != nullptr) std::setvbuf(stream, nullptr, _IONBF, 0);
  return stream;
#else
  return nullptr;
#endif
}
