// mahimahi is set-user-id root and calls iptables without giving up its caller's real user id, which
// iptables refuses from 1.8.8 on (exit status 111). This program makes the real ids root's, too. It
// bears no set-id bit of its own: to whoever is not root already, it is the plain iptables. The
// caller's environment goes no further: iptables would load libraries from where that says.
#include <stdio.h>
#include <unistd.h>

int main(int argc, char **argv) {
  char *environment[] = {"PATH=/usr/sbin:/usr/bin:/sbin:/bin", NULL};
  if (argc > 0 && geteuid() == 0 && setgid(0) == 0 && setuid(0) != 0) perror("setuid");
  execve(IPTABLES, argv, environment);
  perror(IPTABLES);
  return 1;
}
