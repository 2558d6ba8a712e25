#include "loader/controllers.hh"

#include <algorithm>
#include <cstdlib>
#include <map>
#include <stdexcept>
#include <system_error>
#include <vector>

#include "common/progress.hh"
#include "common/text.hh"
#include "loader/isolated.hh"

namespace kneepoint {

namespace {

constexpr const char* suffix = ".so";

// The folder of the project's own controllers, which precede others of the same name, and the
// folder beside this program.
std::vector<std::filesystem::path> folders() {
  std::vector<std::filesystem::path> found;
  const char* own = std::getenv("KNEEPOINT_OWN_CONTROLLERS");
  if (own != nullptr and *own != '\0') found.emplace_back(own);
  found.push_back(program_folder() / "controllers");
  return found;
}

std::vector<std::filesystem::path> files() {
  std::map<std::filesystem::path, std::filesystem::path> found;  // by their names
  std::error_code error;
  for (const auto& folder : folders()) {
    for (const auto& entry : std::filesystem::directory_iterator(folder, error)) {
      if (entry.path().extension() == suffix) found.emplace(entry.path().filename(), entry.path());
    }
  }
  std::vector<std::filesystem::path> paths;
  for (const auto& [name, path] : found) paths.push_back(path);
  return paths;
}

std::filesystem::path find(const std::string& wanted) {
  if (wanted.find('/') != std::string::npos or wanted.ends_with(suffix)) return wanted;
  std::error_code error;
  for (const auto& folder : folders()) {
    const std::filesystem::path path = folder / (wanted + suffix);
    if (std::filesystem::exists(path, error)) return path;
  }
  const std::string known = joined(Controllers::names());
  throw std::invalid_argument("unknown controller '" + wanted + "'; " +
                              (known.empty() ? "none is built: make build" : "known: " + known));
}

// A child loads the shared object first, because loading may end the process.
std::string describe_isolated(const std::filesystem::path& path) {
  return run_isolated("controller " + path.string() + ", when loaded,",
                      [&] { return load_shared_object(path).controller.describe(); });
}

}  // namespace

LoadedController Controllers::make(const std::string& wanted, const Parameters::Values& values,
                                   const std::string& sha256, const Offer& offer) {
  const std::filesystem::path path = find(wanted);
  auto found = loaded_.find(path);
  if (found == loaded_.end()) {
    describe_isolated(path);
    found = loaded_.emplace(path, load_shared_object(path)).first;
    note_progress();
  } else if (sha256.empty() and state_of(path) != found->second.file) {
    throw std::invalid_argument("controller " + path.string() +
                                " was built again since it was loaded; start again");
  }
  const DeclaredController& controller = found->second.controller;
  if (not sha256.empty() and sha256 != controller.sha256()) {
    throw std::invalid_argument("controller " + path.string() + " has SHA-256 " +
                                controller.sha256() + ", not " + sha256 +
                                "; it was built again: start again");
  }
  return controller.make(values, offer);
}

std::vector<std::string> Controllers::names() {
  std::vector<std::string> names;
  for (const auto& path : files()) names.push_back(path.stem().string());
  return names;
}

void Controllers::describe(JsonWriter& json) {
  JsonWriter broken;
  json.key("controllers").begin_array();
  broken.begin_array();
  for (const auto& path : files()) {
    try {
      json.json(describe_isolated(path));
    } catch (const std::invalid_argument& error) {
      broken.begin_object()
          .field("path", path.string())
          .field("reason", std::string_view(error.what()))
          .end_object();
    }
  }
  broken.end_array();
  json.end_array().key("broken").json(broken.text());
}

}  // namespace kneepoint
