// A path to which a test may write.
#pragma once

#include <unistd.h>

#include <filesystem>
#include <string>

namespace kneepoint::test {

// The file is removed with the object.
class TemporaryFile {
 public:
  TemporaryFile() = default;
  ~TemporaryFile() { std::filesystem::remove(path_); }
  TemporaryFile(const TemporaryFile&) = delete;
  TemporaryFile& operator=(const TemporaryFile&) = delete;

  const std::filesystem::path& path() const { return path_; }

 private:
  inline static int count_ = 0;
  std::filesystem::path path_ =
      std::filesystem::temp_directory_path() /
      ("kneepoint-" + std::to_string(getpid()) + "-" + std::to_string(count_++));
};

}  // namespace kneepoint::test
