// An entry: a whole sender, built into one shared object that exports `main`, or a file in Python.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace kneepoint {

struct EntrySettings {
  std::filesystem::path object{};
  std::string sha256{};                  // empty: not checked
  std::vector<std::string> arguments{};  // after HOST and PORT
  std::vector<std::pair<std::string, std::string>> environment{};
  // Names of files that it may read, and their digests; the files are beside the object, as
  // DIGEST.data.
  std::vector<std::pair<std::string, std::string>> files{};
  std::string dialect = "sourdough";
  uint64_t clock_epoch_ms = 0;      // from which its kit's clocks count, if they show dates
  std::optional<uint64_t> cpu_s{};  // CPU time in virtual time; none: by the run's duration
  std::filesystem::path interpreter = "/usr/bin/python3";  // of a file in Python

  std::filesystem::path place_of(const std::string& digest) const {
    return object.parent_path() / (digest + ".data");
  }
  bool is_python() const { return object.extension() == ".py"; }
};

}  // namespace kneepoint
