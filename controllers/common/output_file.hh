// A file of lines, written front to back.
#pragma once

#include <array>
#include <charconv>
#include <concepts>
#include <filesystem>
#include <memory>
#include <string>
#include <string_view>

namespace kneepoint {

// Text gathers in a block, which then goes where the platform keeps files.
class OutputFile {
 public:
  // Empties a file, or makes one. Throws std::runtime_error where it cannot.
  explicit OutputFile(const std::filesystem::path& path);
  ~OutputFile();

  OutputFile& operator<<(std::string_view text) {
    block_ += text;
    if (block_.size() >= block_bytes) write_block();
    return *this;
  }
  OutputFile& operator<<(char letter) { return *this << std::string_view(&letter, 1); }
  OutputFile& operator<<(std::integral auto number) {
    std::array<char, 24> digits;
    const char* const end = std::to_chars(digits.begin(), digits.end(), number).ptr;
    return *this << std::string_view(digits.begin(), end);
  }

  // Throws std::runtime_error where anything could not be written.
  void finish();

 private:
  static constexpr size_t block_bytes = 8192;

  // What the platform keeps.
  struct Place;

  void write_block();

  std::filesystem::path path_;
  std::unique_ptr<Place> place_;
  std::string block_{};
};

}  // namespace kneepoint
