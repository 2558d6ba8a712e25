#include "loader/shared_object.hh"

#include <dlfcn.h>

#include <exception>
#include <stdexcept>

#include "common/sha256.hh"
#include "common/text.hh"

namespace kneepoint {

namespace {

constexpr uintmax_t max_bytes = 256 << 20;

const kneepoint_interface* open(const std::filesystem::path& path) {
  // Without a slash, dlopen would search for the name in other folders.
  void* const library = dlopen(std::filesystem::absolute(path).c_str(), RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) {
    throw std::invalid_argument("is not a shared object for this program: " + one_line(dlerror()));
  }
  using Entry = const kneepoint_interface* (*)();
  const auto entry = reinterpret_cast<Entry>(dlsym(library, KNEEPOINT_ENTRY));
  if (entry == nullptr) {
    throw std::invalid_argument("has no symbol " KNEEPOINT_ENTRY
                                "; include algorithms/registry.hh and register a class");
  }
  return entry();
}

}  // namespace

SharedObject load_shared_object(const std::filesystem::path& path) {
  const FileState file = state_of(path);
  const std::string digest = sha256(read_file(path, "controller", max_bytes));
  try {
    DeclaredController controller(open(path), path.stem().string(), digest);
    if (state_of(path) != file) {
      throw std::invalid_argument("was changed while it was read; start again");
    }
    return {std::move(controller), file};
  } catch (const std::exception& error) {
    throw std::invalid_argument("controller " + path.string() + " " + error.what());
  }
}

}  // namespace kneepoint
