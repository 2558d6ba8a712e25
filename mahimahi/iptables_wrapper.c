// mahimahi is set-user-id root and calls iptables without giving up its caller's real user id, which
// iptables refuses from 1.8.8 on (exit status 111). This program makes the real ids root's, too. It
// bears no set-id bit of its own: to whoever is not root already, it is the plain iptables.
#include <stdio.h>
#include <unistd.h>

int main(int argc, char **argv) {
  if (argc > 0 && geteuid() == 0 && setgid(0) == 0 && setuid(0) != 0) perror("setuid");
  execv(IPTABLES, argv);
  perror(IPTABLES);
  return 1;
}
