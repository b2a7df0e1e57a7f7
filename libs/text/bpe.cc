#include "libs/text/bpe.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <optional>
#include <queue>

namespace samlet::text {
namespace {

#include "libs/text/tables/bpe_merges.inc"

constexpr std::uint16_t kWordEnd = 256;     // added to a byte's id: the same byte at the end of a word
constexpr std::uint16_t kFirstMerge = 512;  // the id that the merge of rank 0 makes

// Ids 49406 and 49407 are never parts of a word, so every id that comes here has its group of merges.
std::optional<std::uint16_t> merge_rank(std::uint16_t left, std::uint16_t right) noexcept {
  const auto* const from = kMergeRight + kMergeFirst[left];
  const auto* const to = kMergeRight + kMergeFirst[left + 1];
  const auto* const at = std::lower_bound(from, to, right);
  if (at == to || *at != right) return std::nullopt;
  return kMergeRank[at - kMergeRight];
}

constexpr std::uint32_t kNobody = 0xFFFFFFFF;
constexpr std::uint16_t kGone = 0xFFFF;

// A symbol of the word, in a doubly linked list over an array.
struct Symbol {
  std::uint16_t id;
  std::uint32_t previous;
  std::uint32_t next;
};

struct Candidate {
  std::uint16_t rank;
  std::uint32_t at;           // index of the left symbol
  std::uint16_t left, right;  // ids when the candidate was made; other ids mean that it is out of date
};

// Lowest rank first, leftmost among equals, as the reference's pass over the word merges them. Merging one
// pair at a time equals its pass over all occurrences because a merge cannot make a pair of a lower rank than
// its own: every symbol has one origin, and a rank lies above those of its parts (asserted by
// tools/text/make_tables.py).
struct LaterFirst {
  bool operator()(const Candidate& a, const Candidate& b) const noexcept {
    return a.rank != b.rank ? a.rank > b.rank : a.at > b.at;
  }
};

class Word {
 public:
  explicit Word(std::string_view bytes) {
    const auto count = static_cast<std::uint32_t>(bytes.size());
    symbols_.reserve(count);
    for (std::uint32_t i = 0; i < count; ++i) {
      const std::uint16_t id = kByteId[static_cast<unsigned char>(bytes[i])];
      symbols_.push_back({id, i == 0 ? kNobody : i - 1, i + 1 == count ? kNobody : i + 1});
    }
    symbols_.back().id = static_cast<std::uint16_t>(symbols_.back().id + kWordEnd);
    for (std::uint32_t i = 0; i < count; ++i) add_candidate(i);
  }

  void merge_all() {
    while (!candidates_.empty()) {
      const Candidate best = candidates_.top();
      candidates_.pop();
      merge(best);
    }
  }

  void append_to(std::vector<std::uint16_t>& ids) const {
    for (std::uint32_t i = 0; i != kNobody; i = symbols_[i].next) ids.push_back(symbols_[i].id);
  }

 private:
  void add_candidate(std::uint32_t at) {
    const std::uint32_t next = at == kNobody ? kNobody : symbols_[at].next;
    if (next == kNobody) return;
    const std::uint16_t left = symbols_[at].id;
    const std::uint16_t right = symbols_[next].id;
    if (const auto rank = merge_rank(left, right)) candidates_.push({*rank, at, left, right});
  }

  void merge(const Candidate& candidate) {
    Symbol& left = symbols_[candidate.at];
    if (left.id != candidate.left || left.next == kNobody) return;
    Symbol& right = symbols_[left.next];
    if (right.id != candidate.right) return;
    left.id = static_cast<std::uint16_t>(kFirstMerge + candidate.rank);
    left.next = right.next;
    right.id = kGone;
    if (left.next != kNobody) symbols_[left.next].previous = candidate.at;
    add_candidate(left.previous);
    add_candidate(candidate.at);
  }

  std::vector<Symbol> symbols_;
  std::priority_queue<Candidate, std::vector<Candidate>, LaterFirst> candidates_;
};

}  // namespace

void append_bpe(std::vector<std::uint16_t>& ids, std::string_view word) {
  Word symbols(word);
  symbols.merge_all();
  symbols.append_to(ids);
}

}  // namespace samlet::text
