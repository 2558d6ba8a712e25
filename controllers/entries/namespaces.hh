// Namespaces of a process's own: users, processes, IPC, network, mounts and host names.
//
// Some kernels and some containers refuse namespaces to users.
#pragma once

#include <sys/types.h>

#include <string>

#include "entries/sandbox.hh"

namespace kneepoint {

// Why this host grants no namespaces; empty: it grants them. A process asks the host once.
const std::string& why_no_namespaces();

// Like fork(), but the child is the first process of its own namespaces, and root in them. The
// child ends, with errno as its status, if its namespaces cannot be set up.
pid_t fork_into_namespaces(bool keeps_network = false);

// Whether this process is such a child, or a program that such a child has become.
bool is_first_process();

// From now on the kernel ends this process when its parent ends. The parent alone holds the other
// end of the channel. Returns false if the parent has ended already. Allocates nothing.
bool end_with_parent(int channel);

// Called by such a child: all files except these vanish. Copied files are in memory from then on,
// and belong to this process alone. Throws SandboxError.
void show_only(const Files& files);

}  // namespace kneepoint
