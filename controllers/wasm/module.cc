// kneepoint.wasm: the emulator behind a small C interface, one call after the other.
//
// A caller asks for room, writes an argument there, calls a function, which returns the number of
// bytes of its answer, and reads the answer at answer(). All texts are UTF-8. The functions, with
// their arguments, are:
//   catalogue               returns the JSON of `emulate --list`
//   run LINE                returns the JSON that answers a line of `emulate --batch`
//   write NAME, TEXT        keeps a text under a name, in place of a file
//   read NAME               returns a text, such as a log that a run has written
//   over_time NAME          returns the JSON of `measure --over-time` for the log of a link
//   synthesize NAME, WORDS  writes the trace that options of `synthesize` describe under the name
//   rule SETTINGS, TEXT     returns a rule's parameters, and the rule in C++: see rule_answer.hh
// A newline separates a name or settings from the text or words after it. After an error, the
// answer is an object with `status` and `reason`.
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
#include "wasm/rule_answer.hh"

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

// Removes the name at the beginning of the argument, and returns the name.
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

EXPORT("rule") size_t rule() {
  return answer_with([] {
    const std::string settings = take_name();
    return answer_rule(settings, argument());
  });
}
