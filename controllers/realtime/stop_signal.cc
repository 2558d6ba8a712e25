#include "realtime/stop_signal.hh"

#include <sys/prctl.h>
#include <unistd.h>

#include <csignal>
#include <initializer_list>

namespace kneepoint {

namespace {

volatile std::sig_atomic_t stop = 0;

void request_stop(int) { stop = 1; }

}  // namespace

void catch_stop_signals() {
  struct sigaction action{};
  action.sa_handler = request_stop;  // without SA_RESTART: a wait must end
  for (const int signal : {SIGHUP, SIGINT, SIGTERM}) sigaction(signal, &action, nullptr);
}

void stop_with_parent() {
  const pid_t parent = getppid();
  prctl(PR_SET_PDEATHSIG, SIGTERM);
  // The parent may have ended before this call; another process has then adopted this process.
  if (getppid() != parent) request_stop(SIGTERM);
}

bool stop_requested() { return stop != 0; }

}  // namespace kneepoint
