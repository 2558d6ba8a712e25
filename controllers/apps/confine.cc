// confine: runs any command under limits, Landlock and seccomp, and leaves nothing behind.
#include <cstdlib>
#include <filesystem>
#include <iostream>
#include <map>
#include <stdexcept>
#include <string>

#include "apps/program.hh"
#include "common/text.hh"
#include "entries/confined_command.hh"
#include "entries/namespaces.hh"

namespace {

using namespace kneepoint;

const char* const usage =
    R"(usage: confine [--read PATH...]... [--write PATH...]... [--run PATH...]... [--cpu-s 60] [--memory-mb 2048]
               [--processes 256] [--file-mb 256] [--wall-s 600] [--no-network] [--end-with-parent]
               -- COMMAND [ARGUMENT]...
       confine --isolation

Runs the command with access to these files and folders only: --read to read, --write to read, write, create
and remove, --run to read and execute. --cpu-s and --memory-mb limit each process, --processes the number
started in all, --file-mb all output, --wall-s the whole, which may last 30 s longer for each second of CPU time
that it has used (at most --cpu-s): a busy machine gives a command little. Exits with the command's status, or 128 plus the
number of the signal that ended it; stderr says what stopped it, such as
"confine: stopped: more than 60 s of CPU time". Ends processes that the command leaves behind.

--isolation prints "namespaces and filters", or "filters alone: " and why this host grants no namespaces.
)";

// The last word before the command is "--".
size_t options_end(const Words& words) {
  for (size_t i = 0; i < words.size(); ++i) {
    if (words[i] == "--" and i + 1 < words.size()) return i;
  }
  throw std::invalid_argument("-- COMMAND is missing; confine --help");
}

Confinement parse(const Words& words, size_t end) {
  Confinement confinement;
  const std::map<std::string, std::vector<std::string>*> paths{
      {"--read", &confinement.files.readable},
      {"--write", &confinement.files.writable},
      {"--run", &confinement.files.runnable}};
  const std::map<std::string, uint64_t*> numbers{{"--cpu-s", &confinement.cpu_s},
                                                 {"--memory-mb", &confinement.memory_mb},
                                                 {"--processes", &confinement.processes},
                                                 {"--file-mb", &confinement.file_mb},
                                                 {"--wall-s", &confinement.wall_s}};
  constexpr uint64_t max = 1'000'000;
  for (size_t i = 0; i < end;) {
    const std::string& option = words[i++];
    if (option == "--no-network") {
      confinement.has_network = false;
    } else if (option == "--end-with-parent") {
      confinement.ends_with_parent = true;
    } else if (const auto path = paths.find(option); path != paths.end()) {
      while (i < end and not words[i].starts_with("--")) {
        path->second->push_back(std::filesystem::absolute(words[i++]));
      }
    } else if (const auto number = numbers.find(option); number != numbers.end()) {
      if (i == end) throw std::invalid_argument(option + " needs a value");
      *number->second = to_whole(words[i++], option, 1, max);
    } else {
      throw std::invalid_argument("unknown option '" + option + "'; confine --help lists them");
    }
  }
  return confinement;
}

int run(const Words& words) {
  if (words == Words{"--isolation"}) {
    require_sandbox();
    const std::string& why = why_no_namespaces();
    std::cout << (why.empty() ? "namespaces and filters" : "filters alone: " + why) << std::endl;
    return EXIT_SUCCESS;
  }
  const size_t end = options_end(words);
  const Words command(words.begin() + static_cast<std::ptrdiff_t>(end) + 1, words.end());
  const CommandEnd ended = run_confined(parse(words, end), command);
  if (not ended.reason.empty()) std::cerr << "confine: stopped: " << ended.reason << std::endl;
  return ended.status;
}

}  // namespace

int main(int argc, char* argv[]) { return run_program(argc, argv, usage, run); }
