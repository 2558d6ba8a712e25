#include "common/output_file.hh"

#include <fstream>
#include <ios>
#include <stdexcept>

namespace kneepoint {

struct OutputFile::Place {
  std::ofstream file;
};

OutputFile::OutputFile(const std::filesystem::path& path)
    : path_(path), place_(new Place{std::ofstream(path, std::ios::binary | std::ios::trunc)}) {
  if (not place_->file) {
    throw std::runtime_error("cannot write " + path.string() + "; check the folder");
  }
}

OutputFile::~OutputFile() { write_block(); }

void OutputFile::write_block() {
  place_->file.write(block_.data(), static_cast<std::streamsize>(block_.size()));
  block_.clear();
}

void OutputFile::finish() {
  write_block();
  place_->file.flush();
  if (not place_->file) {
    throw std::runtime_error("cannot write all of " + path_.string() + "; disk full?");
  }
}

}  // namespace kneepoint
