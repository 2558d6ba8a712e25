// The declaration of a controller written as a class, for C.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "algorithms/constants.hh"
#include "algorithms/interface.h"

namespace kneepoint {

class __attribute__((visibility("hidden"))) Declaration {
 public:
  Declaration(std::string name, std::string summary, std::string source,
              std::vector<Constant> constants, uint32_t needs)
      : name_(std::move(name)),
        summary_(std::move(summary)),
        source_(std::move(source)),
        constants_(std::move(constants)) {
    rows_.reserve(constants_.size());
    for (const Constant& constant : constants_) {
      rows_.push_back({.size = sizeof(kneepoint_constant),
                       .name = constant.name.c_str(),
                       .unit = constant.unit.c_str(),
                       .meaning = constant.meaning.c_str(),
                       .fallback = constant.fallback,
                       .low = constant.limits.low,
                       .high = constant.limits.high,
                       .least = constant.limits.least,
                       .most = constant.limits.most,
                       .is_integer = constant.type == ConstantType::integer,
                       .is_log = constant.limits.scale == Scale::log});
      pointers_.push_back(&rows_.back());
    }
    declared_ = {.size = sizeof declared_,
                 .name = name_.c_str(),
                 .summary = summary_.c_str(),
                 .source = source_.c_str(),
                 .constant_count = pointers_.size(),
                 .constants = pointers_.data(),
                 .needs = needs};
  }
  Declaration(const Declaration&) = delete;
  Declaration& operator=(const Declaration&) = delete;

  const kneepoint_declaration& declared() const { return declared_; }

  Constants::Values by_name(const double* values, size_t count) const {
    Constants::Values named;
    for (size_t i = 0; i < count and i < constants_.size(); ++i) {
      named.insert_or_assign(constants_[i].name, values[i]);
    }
    return named;
  }

 private:
  std::string name_;
  std::string summary_;
  std::string source_;
  std::vector<Constant> constants_;
  std::vector<kneepoint_constant> rows_{};
  std::vector<const kneepoint_constant*> pointers_{};
  kneepoint_declaration declared_{};
};

}  // namespace kneepoint
