// Tracks the link's position in its recording with a filter over all positions in all recordings,
// and keeps as many packets in flight as will depart within `target_ms` after their arrival at the
// link. With HONEST the forecast is the rate of the last arrivals and uses no recording.
#include "controller.hh"

#include <algorithm>
#include <cmath>
#include <string_view>
#include <vector>

#include "recordings.hh"
#include "timestamp.hh"

namespace {

constexpr int64_t cell_ms = 10, step_ms = 50, silence_ms = 80, horizon_ms = 400;
#ifdef HONEST
constexpr int64_t target_ms = 7, memory_ms = 400, round_trip_ms = 45;
#else
constexpr int64_t target_ms = 5;
constexpr double diffusion = 0.10;  // to each neighbouring cell in a step, as time may stretch
#endif
constexpr int64_t start_ms = 800;  // until then it fills the link, to see its opportunities

struct Arrival {
  int64_t at, sent;
};

std::vector<Arrival> arrivals;
std::vector<int64_t> sent_at;
int64_t newest = 0;         // datagrams sent up to the newest acknowledged
int64_t one_way = 1 << 30;  // minimum difference of the clocks: the propagation delay

int64_t now_ms() { return static_cast<int64_t>(timestamp_ms()); }
int64_t to_receiver(int64_t sender_ms) { return sender_ms + one_way; }

#ifdef HONEST
double rate() {  // packets per ms, over the time in which the link was busy
  if (arrivals.size() < 2) return 0.1;
  const int64_t end = arrivals.back().at;
  int64_t busy = 0;
  double count = 0;
  for (size_t i = arrivals.size() - 1; i > 0 and end - arrivals[i].at < memory_ms; --i) {
    const int64_t idle_until = std::max(arrivals[i - 1].at, to_receiver(arrivals[i].sent));
    busy += std::max<int64_t>(0, arrivals[i].at - idle_until);
    ++count;
  }
  return count / std::max<double>(busy, memory_ms * 0.5);
}

double forecast(int64_t from, int64_t to) { return rate() * static_cast<double>(to - from); }
void follow() {}
#else
struct Link {
  std::vector<float>
      until;  // opportunities before each millisecond, beyond the end of the recording
  int64_t length = 0;
  std::vector<double> weight, other;
};

std::vector<Link> links;
int64_t followed = 0;  // receiver's time up to which the filter has run
std::vector<double> expected(horizon_ms + 1);
size_t next_arrival = 0;

double opportunities(const Link& link, int64_t from, int64_t to) {
  return link.until[to] - link.until[from];
}

void read() {
  for (const std::string_view text : recordings) {
    Link& link = links.emplace_back();
    link.length = static_cast<int64_t>(text.size()) / cell_ms * cell_ms;
    link.until.push_back(0);
    for (int64_t ms = 0; ms < link.length + 2 * horizon_ms; ++ms) {
      link.until.push_back(link.until.back() + static_cast<float>(text[ms % link.length] - '0'));
    }
    link.weight.assign(link.length / cell_ms, 1);
    link.other = link.weight;
  }
}

// A step of the filter, with `count` arrivals and whether the link was busy throughout.
void step(double count, bool is_busy) {
  double sum = 0;
  for (Link& link : links) {
    const auto cells = static_cast<int64_t>(link.weight.size());
    for (int64_t cell = 0; cell < cells; ++cell) {
      const int64_t before = (cell - step_ms / cell_ms + cells) % cells;
      const double prior = (1 - 2 * diffusion) * link.weight[before] +
                           diffusion * (link.weight[(before + 1) % cells] +
                                        link.weight[(before + cells - 1) % cells]);
      if (prior < 1e-12) {
        link.other[cell] = 0;
        continue;
      }
      const int64_t from = before * cell_ms;
      const double mean = opportunities(link, from, from + step_ms);
      // The bounds of a cell are uncertain: opportunities near its ends may not belong to it.
      const double off = count - mean;
      const double spread = 1 + 0.25 * mean + 0.05 * count;
      double fit = std::exp(-0.5 * off * off / spread);
      if (not is_busy and off < 0) fit = 1;
      link.other[cell] = prior * (fit + 1e-3);
      sum += link.other[cell];
    }
  }
  size_t cells = 0;
  for (const Link& link : links) cells += link.weight.size();
  const double lost = 1e-7 / static_cast<double>(cells);
  for (Link& link : links) {
    for (size_t cell = 0; cell < link.other.size(); ++cell) {
      link.weight[cell] = link.other[cell] / sum + lost;
    }
  }
  double greatest = 0;
  for (const Link& link : links) {
    for (const double weight : link.weight) greatest = std::max(greatest, weight);
  }
  std::fill(expected.begin(), expected.end(), 0);
  double used = 0;
  for (const Link& link : links) {
    for (size_t cell = 0; cell < link.weight.size(); ++cell) {
      const double weight = link.weight[cell];
      if (weight < 0.01 * greatest) continue;
      used += weight;
      const int64_t from = static_cast<int64_t>(cell) * cell_ms;
      for (int64_t ms = 0; ms <= horizon_ms; ++ms) {
        expected[ms] += weight * opportunities(link, from, from + ms);
      }
    }
  }
  for (double& each : expected) each /= used;
}

void follow() {
  while (not arrivals.empty()) {
    const int64_t end = followed + step_ms;
    const bool is_heard = arrivals.back().at >= end;
    const bool is_silent =
        newest < static_cast<int64_t>(sent_at.size()) and to_receiver(now_ms()) > end + silence_ms;
    if (not is_heard and not is_silent) return;
    double count = 0;
    int64_t idle = 0;
    for (; next_arrival < arrivals.size() and arrivals[next_arrival].at < end; ++next_arrival) {
      ++count;
      if (next_arrival > 0) {
        const int64_t before = std::max(arrivals[next_arrival - 1].at, followed);
        idle += std::max<int64_t>(0, to_receiver(arrivals[next_arrival].sent) - before);
      }
    }
    const int64_t last =
        next_arrival > 0 ? std::max(arrivals[next_arrival - 1].at, followed) : followed;
    const size_t number = next_arrival < arrivals.size() ? next_arrival : arrivals.size();
    if (number < sent_at.size()) {
      idle += std::max<int64_t>(0, std::min(end, to_receiver(sent_at[number])) - last);
    } else {
      idle += end - last;
    }
    step(count, idle <= 3);
    followed = end;
  }
}

double forecast(int64_t from, int64_t to) {
  const auto at = [](int64_t time) {
    return expected[std::clamp<int64_t>(time - followed, 0, horizon_ms)];
  };
  return at(to) - at(from);
}
#endif

double window_at(int64_t now) {
  if (arrivals.empty() or now < start_ms) return 100;
#ifdef HONEST
  const int64_t from = std::max(arrivals.back().at, to_receiver(now) - round_trip_ms);
#else
  const int64_t from = arrivals.back().at;
#endif
  return std::max(1.0, forecast(from, to_receiver(now) + target_ms));
}

int64_t in_flight() { return static_cast<int64_t>(sent_at.size()) - newest; }

}  // namespace

Controller::Controller(const bool debug) : debug_(debug) {
#ifndef HONEST
  read();
#endif
}

unsigned int Controller::window_size() {
  follow();
  return static_cast<unsigned int>(window_at(now_ms()));
}

void Controller::datagram_was_sent(uint64_t, const uint64_t send_timestamp, bool) {
  sent_at.push_back(static_cast<int64_t>(send_timestamp));
}

void Controller::ack_received(const uint64_t number, const uint64_t sent, const uint64_t received,
                              uint64_t) {
  const Arrival arrival{static_cast<int64_t>(received), static_cast<int64_t>(sent)};
  one_way = std::min(one_way, arrival.at - arrival.sent);
  arrivals.push_back(arrival);
  newest = static_cast<int64_t>(number) + 1;
}

unsigned int Controller::timeout_ms() {
  if (arrivals.empty()) return 1000;
  const int64_t now = now_ms();
  for (int64_t ms = 1; ms < 40; ++ms) {
    if (window_at(now + ms) >= static_cast<double>(in_flight() + 1))
      return static_cast<unsigned int>(ms);
  }
  return 40;
}
