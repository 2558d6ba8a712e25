#include <fstream>

#include "common/input_file.hh"
#include "measure/log_figures.hh"

namespace kneepoint {

LogFigures read_log_figures(const std::filesystem::path& path) {
  std::ifstream log = open_file(path, "log");
  return log_figures(path.string(), bytes_of(log), Dialect::mahimahi);
}

}  // namespace kneepoint
