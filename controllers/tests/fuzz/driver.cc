// Stands in for libFuzzer where the compiler has none. It takes the same arguments:
//
//   fuzz_TARGET [-runs=N] [-max_total_time=S] [-seed=N] [-artifact_prefix=P] FOLDER|FILE...
//
// It runs each file, and then mutations of the files, which a seed determines, so that a failure
// can be repeated. Built with the address sanitizer, it writes an input that fails to
// Pcrash-fuzz_TARGET.
#include <sys/time.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <iterator>
#include <string>
#include <string_view>
#include <vector>

#include "apps/program.hh"
#include "common/random.hh"
#include "common/text.hh"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size);

#if defined(__SANITIZE_ADDRESS__)
#include <sanitizer/common_interface_defs.h>
// The sanitizer reports aborts, too, so that their inputs are written as well.
extern "C" const char* __asan_default_options() {
  return "handle_abort=1:allocator_may_return_null=0";
}
#endif

namespace {

using namespace kneepoint;

constexpr itimerval longest_input{.it_interval = {}, .it_value = {.tv_sec = 60, .tv_usec = 0}};
constexpr size_t largest_input_bytes = 4096;

// Numbers at which programs often fail.
constexpr std::string_view numbers[] = {"0",
                                        "-0",
                                        "-1",
                                        "1",
                                        "1504",
                                        "86400000",
                                        "86400001",
                                        "2147483647",
                                        "2147483648",
                                        "4294967296",
                                        "999999999999999",
                                        "1000000000000000",
                                        "9223372036854775807",
                                        "9223372036854775808",
                                        "18446744073709551615",
                                        "18446744073709551616",
                                        "0.5",
                                        "1e-300",
                                        "1e6",
                                        "1e300",
                                        "1e999",
                                        "nan",
                                        "-inf",
                                        "7fffffffffffffff",
                                        "8000000000000000",
                                        "ffffffffffffffff"};

std::string name;
std::string artifact_prefix;
std::string input;

void run_input() {
  setitimer(ITIMER_PROF, &longest_input, nullptr);  // CPU time: the machine may be busy
  LLVMFuzzerTestOneInput(reinterpret_cast<const uint8_t*>(input.data()), input.size());
}

class Mutator {
 public:
  Mutator(const std::vector<std::string>& seeds, uint64_t seed) : seeds_(seeds), random_(seed) {}

  std::string next() {
    std::string text = seeds_[below(seeds_.size())];
    for (size_t steps = 1 + below(6); steps > 0; --steps) mutate(text);
    if (text.size() > largest_input_bytes) text.resize(largest_input_bytes);
    return text;
  }

 private:
  size_t below(size_t bound) { return bound == 0 ? 0 : random_.next() % bound; }

  void mutate(std::string& text) {
    const size_t place = below(text.size() + 1);
    const size_t length = std::min(below(16), text.size() - place);
    switch (below(8)) {
      case 0:  // flips a bit
        if (place < text.size()) text[place] = static_cast<char>(text[place] ^ 1 << below(8));
        break;
      case 1:
        text.insert(place, 1, static_cast<char>(below(256)));
        break;
      case 2:
        text.erase(place, length);
        break;
      case 3:
        text.insert(place, text.substr(below(text.size() + 1), below(64)));
        break;
      case 4: {  // takes the end of another seed
        const std::string& other = seeds_[below(seeds_.size())];
        text = text.substr(0, place) + other.substr(below(other.size() + 1));
        break;
      }
      case 5:  // writes eight bytes of a binary number
        text.replace(place, std::min<size_t>(8, text.size() - place), 8,
                     "\0\x7f\x80\xff"[below(4)]);
        break;
      default:
        replace_number(text, place);
    }
  }

  // Replaces the first number from `place` on.
  void replace_number(std::string& text, size_t place) {
    static constexpr std::string_view digits = "0123456789";
    const size_t begin = text.find_first_of(digits, place);
    if (begin == std::string::npos) return;
    const size_t end = std::min(text.find_first_not_of(digits, begin), text.size());
    text.replace(begin, end - begin, numbers[below(std::size(numbers))]);
  }

  const std::vector<std::string>& seeds_;
  Random random_;
};

std::string content_of(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

std::vector<std::string> read_seeds(const std::filesystem::path& path) {
  if (std::filesystem::is_regular_file(path)) return {content_of(path)};
  std::vector<std::filesystem::path> files;
  for (const auto& entry : std::filesystem::directory_iterator(path)) files.push_back(entry);
  std::ranges::sort(files);
  std::vector<std::string> seeds;
  for (const auto& file : files) seeds.push_back(content_of(file));
  return seeds;
}

int run(const Words& words) {
  uint64_t runs = 0;
  uint64_t seed = 1;
  uint64_t max_s = 0;
  std::vector<std::string> seeds;
  for (const std::string& word : words) {
    const size_t equals = word.find('=');
    const std::string value = equals == std::string::npos ? "" : word.substr(equals + 1);
    if (word.starts_with("-runs=")) {
      runs = to_whole(value, "-runs");
    } else if (word.starts_with("-seed=")) {
      seed = to_whole(value, "-seed");
    } else if (word.starts_with("-max_total_time=")) {
      max_s = to_whole(value, "-max_total_time");
    } else if (word.starts_with("-artifact_prefix=")) {
      artifact_prefix = value;
    } else {
      std::ranges::move(read_seeds(word), std::back_inserter(seeds));
    }
  }
  for (const std::string& each : seeds) {
    input = each;
    run_input();
  }
  if (seeds.empty()) seeds.emplace_back();
  Mutator mutator(seeds, seed);
  const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(max_s);
  uint64_t done = 0;
  while (runs > 0 ? done < runs : std::chrono::steady_clock::now() < end) {
    input = mutator.next();
    run_input();
    ++done;
  }
  std::cout << name << ": " << seeds.size() << " seeds and " << done << " mutations, no fault\n";
  return EXIT_SUCCESS;
}

}  // namespace

int main(int argc, char* argv[]) {
  name = std::filesystem::path(argv[0]).filename().string();
  std::signal(SIGPROF, [](int) { std::abort(); });  // the input hangs
#if defined(__SANITIZE_ADDRESS__)
  __sanitizer_set_death_callback(
      [] { std::ofstream(artifact_prefix + "crash-" + name, std::ios::binary) << input; });
#endif
  // Not through run_program, which would turn an exception of the target into a message.
  return run(Words(argv + 1, argv + argc));
}
