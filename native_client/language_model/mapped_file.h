// Files mapped into memory, and new files that appear only when they are whole.
#pragma once

#include <cstddef>
#include <fstream>
#include <memory>
#include <string>

namespace ctc {

// A file's bytes, mapped read-only for as long as the object lives.
class MappedFile {
 public:
  // Throws Error naming the path if it cannot be mapped.
  explicit MappedFile(const std::string& path);
  ~MappedFile();
  MappedFile(const MappedFile&) = delete;
  MappedFile& operator=(const MappedFile&) = delete;

  const char* data() const { return data_; }
  std::size_t size() const { return size_; }

 private:
  const char* data_ = nullptr;
  std::size_t size_ = 0;
};

// A file that appears under its name only when it is whole; before, it is "NAME.partial".
class NewFile {
 public:
  // Throws Error naming the path if it cannot be created.
  explicit NewFile(const std::string& path);
  ~NewFile();
  NewFile(const NewFile&) = delete;
  NewFile& operator=(const NewFile&) = delete;

  void write(const void* data, std::size_t size);
  std::size_t position() const { return position_; }

  // Gives the file its name. Throws Error if anything could not be written.
  void finish();

 private:
  const std::string path_;
  const std::string partial_path_;
  std::ofstream stream_;
  std::size_t position_ = 0;
  bool finished_ = false;
};

}  // namespace ctc
