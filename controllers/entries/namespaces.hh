// Namespaces of a process's own: users, processes, IPC, network, mounts and host names.
//
// Some kernels and some containers refuse them to users.
#pragma once

#include <sys/types.h>

#include <string>

#include "entries/sandbox.hh"

namespace kneepoint {

// Why this host grants none; empty: it does. Asked once in a process.
const std::string& why_no_namespaces();

// As fork(), but the child is the first process of its own namespaces, and root in them. It ends,
// with errno as its status, where they cannot be set up.
pid_t fork_into_namespaces(bool keeps_network = false);

// Whether this is such a child, which a new program still is.
bool is_first_process();

// From now on the kernel ends this process when its parent has ended, which alone holds the other
// end of the channel. False if it has ended already. It allocates nothing.
bool end_with_parent(int channel);

// By such a child: all files but these vanish. Those that are to be copied lie in memory from then
// on, wherever they are read, and are of this process alone. Throws SandboxError.
void show_only(const Files& files);

}  // namespace kneepoint
