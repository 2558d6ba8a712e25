// kneepoint.wasm: the emulator behind a small C interface, one call after the other.
//
// A caller asks for room, writes its argument there, calls a function, which returns how many bytes
// its answer has, and reads them at answer(). All texts are UTF-8. What a function takes and gives:
//   catalogue               nothing; JSON as of `emulate --list`
//   run                     a line as of `emulate --batch`; JSON as it answers
//   write NAME, TEXT        a text under a name, in place of a file; nothing
//   read NAME               the text, such as a log that a run has written
//   over_time NAME          the log of a link; JSON as of `measure --over-time`
//   synthesize NAME, WORDS  options of `synthesize`, whose trace gets the name; nothing
// A name and what follows it are separated by an end of line. Whatever goes wrong is answered as an
// object with `status` and `reason`.
#include <exception>
#include <new>
#include <string>
#include <string_view>

#include "apps/catalogue.hh"
#include "apps/program.hh"
#include "apps/runner.hh"
#include "apps/synthetic_trace.hh"
#include "common/output_file.hh"
#include "common/text.hh"
#include "measure/log_figures.hh"
#include "wasm/files.hh"

namespace {

using namespace kneepoint;

constexpr uintmax_t max_bytes = 256 << 20;

std::string& argument() {
  static std::string text;
  return text;
}

std::string& result() {
  static std::string text;
  return text;
}

Runner& runner() {
  static Runner runner;
  return runner;
}

// Takes the name that begins the argument, and leaves the rest.
std::string take_name() {
  const size_t end = std::min(argument().find('\n'), argument().size());
  const std::string name = argument().substr(0, end);
  argument().erase(0, end + 1);
  return name;
}

template <class Work>
size_t answer_with(const Work& work) {
  try {
    result() = work();
  } catch (const std::bad_alloc&) {
    result() = describe_failure("fault", out_of_memory);
  } catch (const std::exception& error) {
    result() = describe_failure("error", error.what());
  }
  return result().size();
}

}  // namespace

#define EXPORT(name) extern "C" __attribute__((export_name(name)))

EXPORT("room") char* room(size_t bytes) {
  argument().resize(bytes);
  return argument().data();
}

EXPORT("answer") const char* answer() { return result().data(); }

EXPORT("catalogue") size_t list_all() { return answer_with(catalogue); }

EXPORT("run") size_t run() {
  return answer_with([] { return runner().answer(argument()); });
}

EXPORT("write") size_t write_text() {
  return answer_with([] {
    const std::string name = take_name();
    write_file(name, std::move(argument()));
    return "";
  });
}

EXPORT("read") size_t read_text() {
  return answer_with([] { return read_file(argument(), "text", max_bytes); });
}

EXPORT("over_time") size_t over_time() {
  return answer_with([] {
    const std::string text = read_file(argument(), "log", max_bytes);
    JsonWriter json;
    write_over_time(json, log_figures(argument(), bytes_of(text), Dialect::any_fork));
    return json.text();
  });
}

EXPORT("synthesize") size_t synthesize() {
  return answer_with([] {
    OutputFile trace(take_name());
    write_trace(parse_synthetic_trace(split_words(argument())),
                [&](Milliseconds time_ms) { trace << time_ms << '\n'; });
    trace.finish();
    return "";
  });
}
