#include "poller.hh"

#include <poll.h>

#include <stdexcept>

const Poller::Ready Poller::to_read = static_cast<Poller::Ready>(POLLIN);
const Poller::Ready Poller::to_write = static_cast<Poller::Ready>(POLLOUT);

bool Poller::wait(int timeout_ms) {
  std::vector<pollfd> polled;
  for (const Rule& rule : rules_) {
    const short events = rule.is_wanted() ? static_cast<short>(rule.when) : 0;
    polled.push_back({rule.descriptor.number(), events, 0});
  }
  if (checked("poll", ::poll(polled.data(), polled.size(), timeout_ms)) == 0) return false;
  for (size_t at = 0; at < rules_.size(); ++at) {
    if ((polled[at].revents & (POLLERR | POLLHUP | POLLNVAL)) != 0) {
      throw std::runtime_error("poll: the descriptor has an error");
    }
    if ((polled[at].revents & polled[at].events) == 0) continue;
    const FileDescriptor& descriptor = rules_[at].descriptor;
    const unsigned int before = descriptor.reads() + descriptor.writes();
    rules_[at].act();
    if (descriptor.reads() + descriptor.writes() == before and rules_[at].is_wanted()) {
      throw std::runtime_error("poll: a rule neither read nor wrote, and would be called forever");
    }
  }
  return true;
}
