#include "language_model/files.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <system_error>
#include <utility>

#include "shared/error.h"

namespace ctc {
namespace {

std::string last_error() { return std::strerror(errno); }

// Closes a file descriptor.
struct Descriptor {
  int number;
  ~Descriptor() {
    if (number >= 0) close(number);
  }
};

#ifdef __linux__
constexpr char kDescriptorPaths[] = "/proc/self/fd/";
int open_memory() { return memfd_create("language model", MFD_CLOEXEC); }
#else
constexpr char kDescriptorPaths[] = "/dev/fd/";
int open_memory() {  // a file without a name, which no other process can open
  std::FILE* const file = std::tmpfile();
  if (!file) return -1;
  const int number = dup(fileno(file));
  std::fclose(file);
  return number;
}
#endif

// Opens a file and finds its size. Refuses pipes, as the caller would wait until another process writes to them.
int open_regular(const std::string& path, std::size_t& size) {
  Descriptor file{open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK)};
  struct stat status {};
  if (file.number < 0 || fstat(file.number, &status) != 0) throw Error(path + " cannot be opened: " + last_error());
  if (!S_ISREG(status.st_mode)) throw Error(path + " is not a regular file");
  size = static_cast<std::size_t>(status.st_size);
  return std::exchange(file.number, -1);
}

// The path to which a new file is renamed. A symbolic link stays, and its target is written, even if it does not exist
// yet. A device or a pipe must not be replaced.
std::string place_of_new(const std::string& path) {
  constexpr int kMostLinks = 40;  // the most that systems follow
  std::error_code ignored;
  const auto kind = std::filesystem::status(path, ignored).type();
  if (std::filesystem::exists(std::filesystem::file_status(kind)) && kind != std::filesystem::file_type::regular) {
    throw Error(path + " cannot be replaced: it is not a regular file");
  }
  std::filesystem::path place = path;
  for (int links = 0; links < kMostLinks && std::filesystem::is_symlink(place, ignored); ++links) {
    place = place.parent_path() / std::filesystem::read_symlink(place, ignored);
  }
  place = std::filesystem::weakly_canonical(place, ignored);
  return ignored ? path : place.string();
}

void read_all(int file, char* to, std::size_t size, const std::string& path) {
  while (size > 0) {
    const ssize_t count = read(file, to, size);
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) throw Error(path + " cannot be read: " + last_error());
    if (count == 0) throw Error(path + " was cut while it was read");
    to += count;
    size -= static_cast<std::size_t>(count);
  }
}

}  // namespace

FileHead read_head(const std::string& path, std::size_t most) {
  std::size_t size = 0;
  const Descriptor file{open_regular(path, size)};
  std::string bytes(std::min(most, size), '\0');
  read_all(file.number, bytes.data(), bytes.size(), path);
  return {std::move(bytes), size};
}

FileContent::FileContent(const std::string& path) {
  const Descriptor file{open_regular(path, size_)};
  if (size_ == 0) return;
  Descriptor memory{open_memory()};
  if (memory.number < 0 || ftruncate(memory.number, static_cast<off_t>(size_)) != 0) {
    throw Error(path + " cannot be read to memory: " + last_error());
  }
  void* const data = mmap(nullptr, size_, PROT_READ | PROT_WRITE, MAP_SHARED, memory.number, 0);
  if (data == MAP_FAILED) throw Error(path + " cannot be read to memory: " + last_error());
  try {
    read_all(file.number, static_cast<char*>(data), size_, path);
  } catch (...) {
    munmap(data, size_);
    throw;
  }
  data_ = static_cast<const char*>(data);
  descriptor_ = std::exchange(memory.number, -1);
}

FileContent::~FileContent() {
  if (data_) munmap(const_cast<char*>(data_), size_);
  if (descriptor_ >= 0) close(descriptor_);
}

std::string FileContent::path_of_memory() const { return kDescriptorPaths + std::to_string(descriptor_); }

NewFile::NewFile(const std::string& path)
    : path_(place_of_new(path)), partial_path_(path_ + ".partial"), stream_(partial_path_, std::ios::binary | std::ios::trunc) {
  if (!stream_) throw Error(partial_path_ + " cannot be created: " + last_error());
}

NewFile::~NewFile() {
  if (finished_) return;
  stream_.close();
  std::remove(partial_path_.c_str());
}

void NewFile::write(const void* data, std::size_t size) {
  stream_.write(static_cast<const char*>(data), static_cast<std::streamsize>(size));
  if (!stream_) throw Error(partial_path_ + " cannot be written: " + last_error());
  position_ += size;
}

void NewFile::finish() {
  stream_.close();
  if (!stream_) throw Error(partial_path_ + " cannot be written: " + last_error());
  if (std::rename(partial_path_.c_str(), path_.c_str()) != 0) {
    throw Error(path_ + " cannot be replaced: " + last_error());
  }
  finished_ = true;
}

}  // namespace ctc
