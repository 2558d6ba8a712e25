#include "common/input_file.hh"

#include <ios>
#include <stdexcept>
#include <system_error>

namespace kneepoint {

namespace {

[[noreturn]] void refuse(const std::string& what, const std::filesystem::path& path,
                         const std::string& reason) {
  throw std::invalid_argument(what + " " + path.string() + " " + reason);
}

constexpr const char* unreadable =
    "cannot be read; check its permissions, and that no program is writing it";

}  // namespace

std::ifstream open_file(const std::filesystem::path& path, const std::string& what) {
  std::error_code error;
  const auto status = std::filesystem::status(path, error);
  if (not std::filesystem::exists(status)) {
    refuse(what, path, "cannot be read: " + error.message() + "; check the path");
  }
  if (not std::filesystem::is_regular_file(status)) {
    refuse(what, path, "is not a regular file; copy its content into one");
  }
  std::ifstream file(path, std::ios::binary);
  if (not file) refuse(what, path, unreadable);
  return file;
}

std::string read_file(const std::filesystem::path& path, const std::string& what,
                      uintmax_t max_bytes) {
  std::ifstream file = open_file(path, what);
  const uintmax_t bytes = std::filesystem::file_size(path);
  if (bytes > max_bytes) {
    refuse(what, path,
           "has " + std::to_string(bytes) + " bytes, but may have at most " +
               std::to_string(max_bytes) + ": shorten it");
  }
  std::string content(bytes, '\0');
  file.read(content.data(), static_cast<std::streamsize>(bytes));
  if (not file) refuse(what, path, unreadable);
  return content;
}

}  // namespace kneepoint
