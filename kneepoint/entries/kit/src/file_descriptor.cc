#include "file_descriptor.hh"

#include <unistd.h>

#include <cerrno>
#include <system_error>

int checked(const std::string& call, int returned) {
  if (returned < 0) throw std::system_error(errno, std::generic_category(), call);
  return returned;
}

FileDescriptor::FileDescriptor(int number) : number_(checked("descriptor", number)) {}

FileDescriptor::~FileDescriptor() { close(number_); }
