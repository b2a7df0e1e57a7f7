// The one door to the exporters of all families; today there is one family.
#include <string>

#include "models/sam3/arch/export.h"
#include "samlet/error.h"
#include "samlet/export.h"

namespace samlet {

ExportReport export_model(const ExportOptions& options) {
  const auto self_test = [&](const std::filesystem::path&,
                             std::string& why_not) -> std::optional<sam3::ManifestSelfTest> {
    why_not = "not yet";
    return std::nullopt;
  };
  return sam3::export_checkpoint(options, self_test);
}

}  // namespace samlet
