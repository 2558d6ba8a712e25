// Texts in memory, in place of files.
#include "wasm/files.hh"

#include <map>
#include <stdexcept>
#include <utility>

#include "common/input_file.hh"
#include "common/output_file.hh"

namespace kneepoint {

namespace {

struct File {
  std::string text{};
  uint64_t version = 0;  // counts writes, so that a change is detected
};

std::map<std::filesystem::path, File>& files() {
  static std::map<std::filesystem::path, File> files;
  return files;
}

uint64_t versions = 0;

}  // namespace

void write_file(const std::filesystem::path& path, std::string text) {
  files()[path] = {std::move(text), ++versions};
}

FileState state_of(const std::filesystem::path& path) {
  const auto found = files().find(path);
  return found == files().end() ? FileState{} : FileState{.inode = found->second.version};
}

std::string read_file(const std::filesystem::path& path, const std::string& what,
                      uintmax_t max_bytes) {
  const auto found = files().find(path);
  if (found == files().end()) {
    throw std::invalid_argument(what + " " + path.string() + " was not handed over");
  }
  const std::string& text = found->second.text;
  if (text.size() > max_bytes) {
    throw std::invalid_argument(what + " " + path.string() + " has " + std::to_string(text.size()) +
                                " bytes, but may have at most " + std::to_string(max_bytes) +
                                ": shorten it");
  }
  return text;
}

struct OutputFile::Place {
  std::string text;
};

OutputFile::OutputFile(const std::filesystem::path& path) : path_(path), place_(new Place) {}

OutputFile::~OutputFile() = default;

void OutputFile::write_block() {
  place_->text += block_;
  block_.clear();
}

void OutputFile::finish() {
  write_block();
  write_file(path_, std::move(place_->text));
}

}  // namespace kneepoint
