// Whether the program was asked to stop.
#pragma once

namespace kneepoint {

// From now on SIGHUP (mm-link's signal to its child that the link is over), SIGINT and SIGTERM only
// set a flag and interrupt a wait, whatever their dispositions were when the program started.
void catch_stop_signals();
bool stop_requested();

// Requests a stop when the process that started this one has ended, even if it was killed.
void stop_with_parent();

}  // namespace kneepoint
