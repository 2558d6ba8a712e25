// Texts in memory, in place of files: `read_file` returns a text that `write_file` or OutputFile
// wrote.
#pragma once

#include <filesystem>
#include <string>

namespace kneepoint {

void write_file(const std::filesystem::path& path, std::string text);

}  // namespace kneepoint
