// The real library, but for its list of providers, which names CUDA without having it (as npm's build does).
#include <dlfcn.h>
#include <onnxruntime_c_api.h>

#include <array>
#include <cstdint>

namespace {

const OrtApiBase* real_base() {
  void* handle = ::dlopen(SAMLET_ORT_LIBRARY_DIR "/libonnxruntime.so", RTLD_NOW | RTLD_LOCAL);
  using GetApiBase = const OrtApiBase* (*)();
  return reinterpret_cast<GetApiBase>(::dlsym(handle, "OrtGetApiBase"))();
}

OrtStatusPtr ORT_API_CALL list_providers(char*** names, int* count) noexcept {
  static std::array<char, 22> cuda{"CUDAExecutionProvider"};
  static std::array<char, 21> cpu{"CPUExecutionProvider"};
  static std::array<char*, 2> list{cuda.data(), cpu.data()};
  *names = list.data();
  *count = static_cast<int>(list.size());
  return nullptr;
}
OrtStatusPtr ORT_API_CALL release_list(char** /*names*/, int /*count*/) noexcept {
  return nullptr;
}

const OrtApi* ORT_API_CALL get_api(std::uint32_t version) noexcept {
  static OrtApi api = [version] {
    OrtApi copy = *real_base()->GetApi(version);
    copy.GetAvailableProviders = &list_providers;
    copy.ReleaseAvailableProviders = &release_list;
    return copy;
  }();
  return &api;
}
const char* ORT_API_CALL get_version() noexcept {
  return real_base()->GetVersionString();
}
constexpr OrtApiBase kBase{&get_api, &get_version};

}  // namespace

extern "C" __attribute__((visibility("default"))) const OrtApiBase* ORT_API_CALL
OrtGetApiBase(void) noexcept {
  return &kBase;
}
