// The only file that includes OpenSSL.
#include "libs/base/sha256.h"

#include <openssl/evp.h>

#include <array>

#include <fmt/format.h>

#include "libs/base/file.h"
#include "samlet/error.h"

namespace samlet {
namespace {

void require(int succeeded) {
  if (succeeded != 1) {
    throw Error(ErrorCode::kInternal,
                "OpenSSL cannot compute SHA-256 here; check its configuration (openssl dgst -sha256 FILE)");
  }
}

}  // namespace

struct Sha256::Impl {
  std::unique_ptr<EVP_MD_CTX, void (*)(EVP_MD_CTX*)> context{EVP_MD_CTX_new(), EVP_MD_CTX_free};
};

Sha256::Sha256() : impl_(std::make_unique<Impl>()) {
  require(impl_->context == nullptr ? 0 : EVP_DigestInit_ex(impl_->context.get(), EVP_sha256(), nullptr));
}
Sha256::~Sha256() = default;
Sha256::Sha256(Sha256&&) noexcept = default;
Sha256& Sha256::operator=(Sha256&&) noexcept = default;

void Sha256::update(std::span<const std::uint8_t> bytes) {
  require(EVP_DigestUpdate(impl_->context.get(), bytes.data(), bytes.size()));
}

std::string Sha256::hex() {
  std::array<std::uint8_t, EVP_MAX_MD_SIZE> digest{};
  unsigned size = 0;
  require(EVP_DigestFinal_ex(impl_->context.get(), digest.data(), &size));
  std::string text;
  for (const std::uint8_t byte : std::span(digest).first(size)) text += fmt::format("{:02x}", byte);
  return text;
}

std::string sha256_of_file(const std::filesystem::path& path, const CancelToken& cancel,
                           const std::function<void(std::uint64_t)>& progress) {
  Sha256 hash;
  std::uint64_t done = 0;
  stream_file(
      path,
      [&](std::span<const std::uint8_t> piece) {
        hash.update(piece);
        done += piece.size();
        if (progress) progress(done);
      },
      cancel);
  return hash.hex();
}

}  // namespace samlet
