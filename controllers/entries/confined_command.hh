// An untrusted command, such as the build of an entry, with its descendants.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "entries/sandbox.hh"

namespace kneepoint {

struct Confinement {
  Files files{};
  uint64_t cpu_s = 60;        // of each process
  uint64_t memory_mb = 2048;  // of each process
  uint64_t processes = 256;   // started in all, threads included
  uint64_t file_mb = 256;     // written in all
  uint64_t wall_s = 600;      // in all, and 30 more for each second of `cpu_s` that it has used
  bool has_network = true;
  bool ends_with_parent = false;
};

struct CommandEnd {
  int status = 0;        // as in a shell: the command's own, or 128 plus its signal's number
  std::string reason{};  // why it was stopped; empty: it was not
};

// Runs the command with this process's input, output and environment, and ends processes left
// behind. Throws SandboxError if this kernel cannot confine it, std::system_error if no process can
// be started.
CommandEnd run_confined(const Confinement& confinement, const std::vector<std::string>& command);

}  // namespace kneepoint
