#include "libs/base/hashing_writer.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <condition_variable>
#include <deque>
#include <mutex>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "libs/base/file.h"
#include "libs/base/sha256.h"
#include "samlet/error.h"

namespace samlet {
namespace {

constexpr std::size_t kPieceBytes = std::size_t{2} << 20;
constexpr std::size_t kMostPieces = 6;

}  // namespace

struct HashingWriter::Impl {
  using Piece = std::vector<std::uint8_t>;

  explicit Impl(std::filesystem::path file)
      : path(std::move(file)),
        descriptor(::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666)) {
    if (descriptor < 0) throw failure(errno);
    worker = std::thread([this] { work(); });
  }

  Impl(const Impl&) = delete;
  Impl& operator=(const Impl&) = delete;

  ~Impl() {
    close_queue(false);
    ::close(descriptor);
  }

  [[nodiscard]] Error failure(int number) const {
    return {ErrorCode::kIo, fmt::format("cannot write '{}': {}", path_to_utf8(path),
                                        std::generic_category().message(number))};
  }

  /// Ends the thread; what still waits is written only when it is wanted.
  void close_queue(bool wanted) {
    if (!worker.joinable()) return;
    {
      const std::lock_guard lock(mutex);
      closed = true;
      if (!wanted) waiting.clear();
    }
    changed.notify_all();
    worker.join();
  }

  void push(Piece piece) {
    std::unique_lock lock(mutex);
    changed.wait(lock, [&] { return waiting.size() < kMostPieces || error_number != 0; });
    if (error_number != 0) throw failure(error_number);
    waiting.push_back(std::move(piece));
    lock.unlock();
    changed.notify_all();
  }

  void work() {
    std::unique_lock lock(mutex);
    for (;;) {
      changed.wait(lock, [&] { return closed || !waiting.empty(); });
      if (waiting.empty()) return;
      const Piece piece = std::move(waiting.front());
      waiting.pop_front();
      lock.unlock();
      changed.notify_all();
      hash.update(piece);
      const int failed = write_all(descriptor, piece);
      lock.lock();
      if (failed != 0) {
        error_number = failed;
        waiting.clear();
        changed.notify_all();
        return;
      }
    }
  }

  std::filesystem::path path;
  int descriptor;
  Sha256 hash;
  Piece filling;
  std::uint64_t total = 0;
  std::mutex mutex;  // guards the four below
  std::condition_variable changed;
  std::deque<Piece> waiting;
  bool closed = false;
  int error_number = 0;
  std::thread worker;
};

HashingWriter::HashingWriter(const std::filesystem::path& path) : impl_(std::make_unique<Impl>(path)) {}

HashingWriter::~HashingWriter() = default;

void HashingWriter::write(std::span<const std::uint8_t> bytes) {
  impl_->total += bytes.size();
  while (!bytes.empty()) {
    if (impl_->filling.capacity() == 0) impl_->filling.reserve(kPieceBytes);
    const std::size_t count = std::min(bytes.size(), kPieceBytes - impl_->filling.size());
    const auto taken = bytes.first(count);
    impl_->filling.insert(impl_->filling.end(), taken.begin(), taken.end());
    bytes = bytes.subspan(count);
    if (impl_->filling.size() == kPieceBytes) impl_->push(std::exchange(impl_->filling, {}));
  }
}

WrittenFile HashingWriter::finish() {
  if (!impl_->filling.empty()) impl_->push(std::exchange(impl_->filling, {}));
  impl_->close_queue(true);
  if (impl_->error_number != 0) throw impl_->failure(impl_->error_number);
  return {impl_->total, impl_->hash.hex()};
}

}  // namespace samlet
