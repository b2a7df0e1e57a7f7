// The numbers of a transformers config.json.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "libs/checkpoint/json.h"

namespace samlet::sam3 {

class Config {
 public:
  Config() = default;  ///< Says nothing.
  /// Errors: kNotFound, kIo; kModelDamaged when it is no JSON object.
  explicit Config(const std::filesystem::path& path);

  /// The number under a path of keys ("vision_config.backbone_config.hidden_size"); nothing when there is
  /// none. Errors: kModelDamaged when something else than an integer stands there (null counts as nothing).
  [[nodiscard]] std::optional<std::int64_t> integer(std::string_view keys) const;
  /// The same for a list of numbers.
  [[nodiscard]] std::optional<std::vector<std::int64_t>> integers(std::string_view keys) const;
  [[nodiscard]] bool has(std::string_view keys) const { return find(keys) != nullptr; }

  /// The file's name for errors: "config.json".
  [[nodiscard]] const std::string& name() const noexcept { return name_; }

 private:
  [[nodiscard]] const checkpoint::Json* find(std::string_view keys) const;

  std::string name_;
  checkpoint::Json json_;
};

}  // namespace samlet::sam3
