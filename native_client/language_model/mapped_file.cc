#include "language_model/mapped_file.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>

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

}  // namespace

MappedFile::MappedFile(const std::string& path) {
  const Descriptor file{open(path.c_str(), O_RDONLY | O_CLOEXEC)};
  struct stat status {};
  if (file.number < 0 || fstat(file.number, &status) != 0) throw Error(path + " cannot be opened: " + last_error());
  if (!S_ISREG(status.st_mode)) throw Error(path + " is not a file");
  size_ = static_cast<std::size_t>(status.st_size);
  if (size_ == 0) return;
  void* const data = mmap(nullptr, size_, PROT_READ, MAP_PRIVATE, file.number, 0);
  if (data == MAP_FAILED) throw Error(path + " cannot be mapped: " + last_error());
  data_ = static_cast<const char*>(data);
}

MappedFile::~MappedFile() {
  if (data_) munmap(const_cast<char*>(data_), size_);
}

NewFile::NewFile(const std::string& path)
    : path_(path), partial_path_(path + ".partial"), stream_(partial_path_, std::ios::binary | std::ios::trunc) {
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
