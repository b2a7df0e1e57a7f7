#include "libs/ort/providers/provider.h"

namespace samlet::ort {

std::optional<Failure> append_cpu(const ProviderContext& /*context*/) {
  return std::nullopt;  // always there, and always the last one asked
}

}  // namespace samlet::ort
