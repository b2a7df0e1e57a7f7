// Any bytes as model.json: read or refused with an Error, and what was read can be written and read again.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "models/sam3/manifest.h"
#include "samlet/error.h"

// NOLINTNEXTLINE(readability-identifier-naming): libFuzzer's name
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using samlet::sam3::Manifest;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  try {
    const Manifest manifest = samlet::sam3::parse_manifest(text, "model.json");
    const std::string written = samlet::sam3::manifest_to_json(manifest);
    // Figures are rounded by writing, so the first round may differ from what was read, but not the second.
    const Manifest again = samlet::sam3::parse_manifest(written, "model.json");
    if (samlet::sam3::manifest_to_json(again) != written) std::abort();
  } catch (const samlet::Error& error) {
    if (error.code() == samlet::ErrorCode::kInternal) std::abort();
  }
  return 0;
}
