// What stands in place of the C library's functions in an entry's process in real time: there is
// one socket, which is connected, and datagrams that are whole. All else is the system's.
#pragma once

#include "entries/page.hh"

namespace kneepoint {

// From now on this process is an entry's, with this page. Before, nothing is replaced.
void replace_socket(EntryPage& page);

}  // namespace kneepoint
