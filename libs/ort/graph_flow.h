// Where what comes in at an input of an ONNX file goes, as far as that can be told from the file alone.
#pragma once

#include <cstdint>
#include <filesystem>
#include <span>
#include <string_view>

namespace samlet::ort {

/// True when the graph puts something of its own beside what comes in at `input` (Concat with what depends on
/// no input, or Pad) before anything learned is done with it: a product of matrices, a table look-up, or
/// arithmetic with more than four numbers. Only the main graph is looked at. False for an input that is not
/// there. Errors: kModelDamaged when the bytes are no ONNX model. Thread-safe.
[[nodiscard]] bool joins_constant(std::span<const std::uint8_t> bytes, std::string_view input);

/// The same of a file. Errors: also kNotFound, kIo.
[[nodiscard]] bool joins_constant(const std::filesystem::path& path, std::string_view input);

}  // namespace samlet::ort
