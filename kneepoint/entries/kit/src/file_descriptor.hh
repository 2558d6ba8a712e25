// Owns a file descriptor, and counts how often it was read and written.
#pragma once

#include <string>

// Returns the result of a system call; throws std::system_error if the call failed.
int checked(const std::string& call, int returned);

class FileDescriptor {
 public:
  explicit FileDescriptor(int number);
  ~FileDescriptor();
  FileDescriptor(const FileDescriptor&) = delete;
  FileDescriptor& operator=(const FileDescriptor&) = delete;

  int number() const { return number_; }
  unsigned int reads() const { return reads_; }
  unsigned int writes() const { return writes_; }

 protected:
  void was_read() { ++reads_; }
  void was_written() { ++writes_; }

 private:
  int number_;
  unsigned int reads_ = 0;
  unsigned int writes_ = 0;
};
