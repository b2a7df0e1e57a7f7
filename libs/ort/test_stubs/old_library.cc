// A library that calls itself ONNX Runtime 1.17 and knows no API that samlet could use.
#include <onnxruntime_c_api.h>

#include <cstdint>
#include <cstdio>

namespace {

const OrtApi* ORT_API_CALL get_api(std::uint32_t version) noexcept {
  // Like the real one: asking for too much is written to stderr, which the loader must not cause.
  std::fprintf(stderr, "The requested API version [%u] is not available\n", version);
  return nullptr;
}
const char* ORT_API_CALL get_version() noexcept {
  return "1.17.0";
}
constexpr OrtApiBase kBase{&get_api, &get_version};

}  // namespace

extern "C" __attribute__((visibility("default"))) const OrtApiBase* ORT_API_CALL
OrtGetApiBase(void) noexcept {
  return &kBase;
}
