// Requests and their answers over TCP.
#include "host/application.hh"
#include "tests/check.hh"
#include "tests/opened.hh"

using namespace kneepoint;
using kneepoint::test::handle_of;
using kneepoint::test::Opened;

namespace {

// A request has two segments, the last with 52 bytes of payload.
constexpr Exchange exchange{
    .request_bytes = 1500, .answer_segments = 3, .requests = 2, .think_us = 50'000};

}  // namespace

TEST(a_server_answers_each_whole_request) {
  Opened t({}, 0);
  Server server(exchange);
  server.received(1, t.sender, 200'000);
  EXPECT_EQUAL(t.send(200'000), "");
  server.received(2, t.sender, 201'000);
  EXPECT_EQUAL(t.send(201'000), "0 1 2 ");
  server.received(2, t.sender, 202'000);  // a duplicate
  EXPECT_EQUAL(t.send(202'000), "");
  server.received(4, t.sender, 203'000);
  EXPECT_EQUAL(t.send(203'000), "3 4 5 ");
}

TEST(a_client_asks_again_after_an_answer_and_its_think_time) {
  Opened t({}, 0);
  Client client(exchange, 100'000, never, nullptr);
  EXPECT_EQUAL(client.next_us(), 100'000);
  TcpSender opening(0, handle_of(t.controller), {}, 0, nullptr);
  client.act(opening, 100'000);
  EXPECT_EQUAL(opening.send(100'000)->is_syn, true);
  EXPECT_EQUAL(client.next_us(), never);
  client.received(2, t.sender, 300'000);
  EXPECT_EQUAL(client.next_us(), never);
  client.received(3, t.sender, 301'000);
  EXPECT_EQUAL(client.next_us(), 351'000);
  client.act(t.sender, 351'000);
  EXPECT_EQUAL(t.send(351'000), "0 1 ");
  client.received(6, t.sender, 500'000);  // the second and last answer
  EXPECT_EQUAL(client.next_us(), never);
}

TEST(a_client_that_has_stopped_asks_no_more) {
  Opened t({}, 0);
  Client client(exchange, 100'000, 200'000, nullptr);
  client.received(3, t.sender, 150'000);
  EXPECT_EQUAL(client.next_us(), 200'000);
  client.act(t.sender, 200'000);
  EXPECT_EQUAL(t.send(200'000), "");
}

// On the link a segment has 56 bytes of headers.
TEST(a_request_has_the_size_of_its_bytes) {
  const Client client(exchange, 0, never, nullptr);
  EXPECT_EQUAL(client.bytes_of(0), 1504);
  EXPECT_EQUAL(client.bytes_of(1), 56 + 52);
  EXPECT_EQUAL(client.bytes_of(2), 1504);
  EXPECT_EQUAL(Application().bytes_of(7), 1504);
}

TEST(a_transfer_is_complete_when_all_is_acknowledged) {
  Opened t({}, 2);
  FlowMeter meter(0, 1'000'000, 0, 1'000'000);
  Transfer transfer(&meter);
  t.send(100'000);
  for (const uint64_t next : {1, 2, 2}) {
    t.acknowledge(next, {}, 200'000 * static_cast<Microseconds>(next));
    transfer.acknowledged(t.sender, 200'000 * static_cast<Microseconds>(next));
  }
  JsonWriter json;
  meter.write(json.begin_object());
  EXPECT_EQUAL(json.end_object().text().find("\"completion_s\":0.4") != std::string::npos, true);
}
