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

// Whether the last piece was dropped, and its line goes on. Since glibc 2.37, printf prints a long line in pieces of 128
// bytes; the stream is locked until the last one.
bool line_goes_on = false;

// Returns how many of the first bytes are libmpg123's.
[[maybe_unused]] std::size_t dropped(std::string_view printed) {
  std::size_t end = 0;
  if (line_goes_on) end = std::min(printed.find('\n'), printed.size() - 1) + 1;
  if (is_of_mpg123(printed.substr(end))) end = printed.size();
  line_goes_on = end > 0 && printed[end - 1] != '\n';
  return end;
}

// Prints one or more lines, or a piece of one, unless they are libmpg123's; returns the number of bytes handled, as
// fopencookie(3) requires.
[[maybe_unused]] ssize_t pass_on(void*, const char* printed, std::size_t size) {
  if (size == 0) return 0;
  const std::size_t begin = dropped({printed, size});
  if (begin == size) return static_cast<ssize_t>(size);
  ssize_t written;
  do {
    written = write(STDERR_FILENO, printed + begin, size - begin);
  } while (written < 0 && errno == EINTR);
  return written < 0 ? 0 : static_cast<ssize_t>(begin) + written;
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
