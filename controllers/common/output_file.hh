// A file of lines, written from its beginning to its end.
#pragma once

#include <array>
#include <charconv>
#include <concepts>
#include <filesystem>
#include <memory>
#include <string>
#include <string_view>

namespace kneepoint {

// Collects text in a block, and writes a full block to the place where the platform keeps the file.
class OutputFile {
 public:
  // Empties or makes the file. Throws std::runtime_error if it cannot be opened.
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

  // Writes the rest. Throws std::runtime_error if any text could not be written.
  void finish();

 private:
  static constexpr size_t block_bytes = 8192;

  // The place where the platform keeps the file.
  struct Place;

  void write_block();

  std::filesystem::path path_;
  std::unique_ptr<Place> place_;
  std::string block_{};
};

}  // namespace kneepoint
