// Events decided ahead of their time are logged and measured in the order of time.
#include <fstream>
#include <sstream>

#include "check.hh"
#include "host/flight_record.hh"
#include "temporary_file.hh"

namespace {

using namespace kneepoint;

TEST(flight_record_brings_events_into_the_order_of_time) {
  const test::TemporaryFile file;
  {
    FlowLog log(file.path());
    FlightRecord record(3, &log, nullptr);
    record.sent(10, 0);
    record.sent(5000, 1);
    record.acknowledged(4000, 0, 4);
    record.settle(4500);
    record.settle(6000);
    log.finish();
  }
  std::ifstream written(file.path());
  std::ostringstream all;
  all << written.rdbuf();
  const std::string text = all.str();
  EXPECT_EQUAL(text.substr(text.find('\n', text.rfind('#')) + 1),
               "10 3 sent 0\n4000 3 ack 0 4 0\n5000 3 sent 1\n");
}

}  // namespace
