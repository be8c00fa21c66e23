// Files read to memory, and new files that appear only when they are complete.
#pragma once

#include <cstddef>
#include <fstream>
#include <memory>
#include <string>

namespace ctc {

// The first bytes of a file, at most `most`, and the size of the whole file.
struct FileHead {
  std::string bytes;
  std::size_t file_size;
};

// Throws Error naming the path if it cannot be read, or is not a regular file.
FileHead read_head(const std::string& path, std::size_t most);

// A file's bytes, read to memory once, for as long as the object lives. They are not mapped from the file: if the file
// is overwritten or truncated while it is in use, as by `cp`, a mapping would change, or the process would crash.
class FileContent {
 public:
  // Throws Error naming the path if it cannot be read, or is not a regular file.
  explicit FileContent(const std::string& path);
  ~FileContent();
  FileContent(const FileContent&) = delete;
  FileContent& operator=(const FileContent&) = delete;

  const char* data() const { return data_; }
  std::size_t size() const { return size_; }

  // A path under which this process can open the same bytes, and map them without reading them again, while the object
  // lives.
  std::string path_of_memory() const;

 private:
  int descriptor_ = -1;
  const char* data_ = nullptr;
  std::size_t size_ = 0;
};

// A file that appears under its name only when it is complete; until then, it is "NAME.partial".
class NewFile {
 public:
  // Throws Error naming the path if the file cannot be created, or if the path is a device, a pipe or a folder.
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
