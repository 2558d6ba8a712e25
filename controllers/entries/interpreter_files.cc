#include "entries/interpreter_files.hh"

#include <dlfcn.h>
#include <elf.h>
#include <fcntl.h>
#include <link.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <filesystem>
#include <set>
#include <span>
#include <string_view>
#include <vector>

#include "entries/sandbox.hh"

namespace kneepoint {

namespace {

namespace fs = std::filesystem;

// Modules that start processes, talk to other hosts or users, build or test.
constexpr std::string_view unused_folders[]{
    "test",      "tests",  "idlelib",       "tkinter",         "turtledemo", "lib2to3",
    "ensurepip", "venv",   "distutils",     "unittest",        "pydoc_data", "site-packages",
    "asyncio",   "curses", "dist-packages", "multiprocessing", "sqlite3",    "wsgiref",
    "xmlrpc",    "dbm",    "_pyrepl",       "__phello__",      "msilib",     "lib-tk"};

constexpr std::string_view unused_modules[]{
    "_asyncio", "_codecs_", "_crypt",    "_curses",      "_dbm",     "_gdbm", "_hashlib",
    "_lsprof",  "_multi",   "_posixshm", "_sqlite3",     "_ssl",     "_test", "_tkinter",
    "_xx",      "nis.",     "xx",        "ossaudiodev.", "readline", "spwd."};

bool is_used(const std::string& folder) {
  return std::ranges::find(unused_folders, folder) == std::end(unused_folders) and
         not folder.starts_with("config-") and folder != "__pycache__";
}

bool is_used_module(const std::string& name) {
  return std::ranges::none_of(unused_modules,
                              [&](std::string_view module) { return name.starts_with(module); });
}

// "3.11"
std::string version() {
  const auto ask = reinterpret_cast<const char* (*)()>(dlsym(RTLD_DEFAULT, "Py_GetVersion"));
  if (ask == nullptr) throw SandboxError("the interpreter is not a Python interpreter");
  const std::string text = ask();
  return text.substr(0, text.find('.', text.find('.') + 1));
}

// A mapping of a file, as long as the object exists.
class Mapped {
 public:
  explicit Mapped(const fs::path& path) {
    const auto descriptor =
        static_cast<int>(syscall(SYS_openat, AT_FDCWD, path.c_str(), O_RDONLY | O_CLOEXEC));
    struct stat status{};
    if (descriptor >= 0 and fstat(descriptor, &status) == 0 and status.st_size > 0) {
      bytes_ = static_cast<size_t>(status.st_size);
      place_ = mmap(nullptr, bytes_, PROT_READ, MAP_PRIVATE, descriptor, 0);
    }
    if (descriptor >= 0) syscall(SYS_close, descriptor);
  }
  ~Mapped() {
    if (place_ != MAP_FAILED) munmap(place_, bytes_);
  }
  Mapped(const Mapped&) = delete;
  Mapped& operator=(const Mapped&) = delete;

  // Up to `count` values from an offset on, as many as the file has.
  template <class Kind>
  std::span<const Kind> at(size_t offset, size_t count) const {
    if (place_ == MAP_FAILED or offset >= bytes_) return {};
    const auto* const first =
        reinterpret_cast<const Kind*>(static_cast<const std::byte*>(place_) + offset);
    return {first, std::min(count, (bytes_ - offset) / sizeof(Kind))};
  }

 private:
  size_t bytes_ = 0;
  void* place_ = MAP_FAILED;
};

// The libraries that a shared object declares to need (elf(5)), and the folders in which to look
// for them.
struct Needs {
  std::vector<std::string> names{};
  std::vector<fs::path> folders{};
};

Needs needs_of(const fs::path& object) {
  const Mapped file(object);
  const auto headers = file.at<ElfW(Ehdr)>(0, 1);
  Needs needs;
  if (headers.empty() or headers[0].e_ident[EI_MAG1] != ELFMAG1) return needs;
  const auto segments = file.at<ElfW(Phdr)>(headers[0].e_phoff, headers[0].e_phnum);
  const auto offset_of = [&](ElfW(Addr) address) -> size_t {
    for (const auto& each : segments) {
      if (each.p_type == PT_LOAD and address - each.p_vaddr < each.p_filesz) {
        return address - each.p_vaddr + each.p_offset;
      }
    }
    return 0;
  };
  std::span<const ElfW(Dyn)> entries;
  for (const auto& each : segments) {
    if (each.p_type != PT_DYNAMIC) continue;
    entries = file.at<ElfW(Dyn)>(each.p_offset, each.p_filesz / sizeof(ElfW(Dyn)));
  }
  size_t texts = 0;
  for (const auto& each : entries) {
    if (each.d_tag == DT_STRTAB) texts = offset_of(each.d_un.d_ptr);
  }
  const auto text_at = [&](size_t offset) {
    const auto text = file.at<char>(texts + offset, 4096);
    return std::string(text.begin(), std::ranges::find(text, '\0'));
  };
  for (const auto& each : entries) {
    if (each.d_tag == DT_NEEDED) needs.names.push_back(text_at(each.d_un.d_val));
    if (each.d_tag != DT_RUNPATH and each.d_tag != DT_RPATH) continue;
    const std::string paths = text_at(each.d_un.d_val) + ":";
    for (size_t from = 0, to; (to = paths.find(':', from)) != std::string::npos; from = to + 1) {
      std::string path = paths.substr(from, to - from);
      const std::string_view origin = "$ORIGIN";
      if (path.starts_with(origin))
        path = object.parent_path() / path.replace(0, origin.size(), ".");
      needs.folders.emplace_back(path);
    }
  }
  return needs;
}

std::vector<fs::path> loaded_objects() {
  std::vector<fs::path> objects;
  dl_iterate_phdr(
      [](dl_phdr_info* object, size_t, void* place) {
        static_cast<std::vector<fs::path>*>(place)->emplace_back(object->dlpi_name);
        return 0;
      },
      &objects);
  return objects;
}

// Whether a file was compiled from this source. As in Python's importlib, the time and the size in
// its header decide; a header of another kind is always accepted.
bool is_of(const fs::path& compiled, const fs::path& source) {
  struct stat status{};
  const auto file =
      static_cast<int>(syscall(SYS_openat, AT_FDCWD, compiled.c_str(), O_RDONLY | O_CLOEXEC));
  std::array<uint32_t, 4> header{};  // a magic number, flags, the time and the size, little-endian
  const bool is_whole = file >= 0 and syscall(SYS_read, file, header.data(), sizeof header) ==
                                          static_cast<long>(sizeof header);
  if (file >= 0) syscall(SYS_close, file);
  return is_whole and stat(source.c_str(), &status) == 0 and
         (header[1] != 0 or (header[2] == static_cast<uint32_t>(status.st_mtime) and
                             header[3] == static_cast<uint32_t>(status.st_size)));
}

using Copies = std::map<std::string, std::string>;

// Adds a module; the compiled module takes the place of its source.
void add_module(Copies& copies, const fs::path& source, const std::string& tag) {
  const fs::path folder = source.parent_path();
  const fs::path compiled = folder / "__pycache__" / (source.stem().string() + tag);
  if (is_of(compiled, source)) {
    copies[folder / (source.stem().string() + ".pyc")] = compiled;
  } else {
    copies[source] = source;
  }
}

void add_library(Copies& copies, const fs::path& library, const std::string& tag) {
  std::error_code lost;
  for (auto each = fs::recursive_directory_iterator(library, lost); each != fs::end(each);
       each.increment(lost)) {
    const fs::path& path = each->path();
    if (each->is_directory(lost)) {
      if (not is_used(path.filename())) each.disable_recursion_pending();
    } else if (path.extension() == ".py") {
      add_module(copies, path, tag);
    } else if (path.extension() == ".so" and is_used_module(path.filename())) {
      copies[path] = path;
    }
  }
}

// Adds the libraries that the objects among the copies need, and the libraries of these libraries.
void add_needs(Copies& copies, const fs::path& prefix) {
  std::set<std::string> known;
  std::vector<fs::path> usual{prefix / "lib"};
  for (const fs::path& each : loaded_objects()) {
    known.insert(each.filename());
    if (each.is_absolute()) usual.push_back(each.parent_path());
  }
  for (const char* const folder : {"/lib64", "/usr/lib64", "/lib", "/usr/lib", "/usr/local/lib"}) {
    usual.emplace_back(folder);
  }
  std::vector<fs::path> objects;
  for (const auto& [path, source] : copies) {
    if (path.ends_with(".so")) objects.emplace_back(source);
  }
  while (not objects.empty()) {
    Needs needs = needs_of(objects.back());
    objects.pop_back();
    needs.folders.insert(needs.folders.end(), usual.begin(), usual.end());
    for (const std::string& name : needs.names) {
      if (not known.insert(name).second) continue;
      for (const fs::path& folder : needs.folders) {
        std::error_code lost;
        const fs::path path = (folder / name).lexically_normal();
        if (not fs::is_regular_file(path, lost)) continue;
        copies[path] = path;
        objects.push_back(path);
        break;
      }
    }
  }
}

}  // namespace

Copies files_of_interpreter(const std::string& file) {
  const fs::path prefix = fs::path(file).parent_path().parent_path();
  const std::string number = version();
  const size_t dot = number.find('.');
  const std::string tag = ".cpython-" + number.substr(0, dot) + number.substr(dot + 1) + ".pyc";
  Copies copies;
  for (const char* const library : {"lib", "lib64"}) {
    add_library(copies, prefix / library / ("python" + number), tag);
  }
  if (copies.empty()) throw SandboxError(file + " has no standard library");
  add_needs(copies, prefix);
  return copies;
}

}  // namespace kneepoint
