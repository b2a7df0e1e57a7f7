#include "libs/text/corpus.h"

#include <cstddef>
#include <sstream>
#include <string_view>

#include "libs/base/file.h"
#include "libs/base/utf8.h"

namespace samlet::text {
namespace {

// SplitMix64.
class Random {
 public:
  explicit Random(std::uint64_t seed) : state_(seed) {}
  std::size_t below(std::size_t n) {
    state_ += 0x9E3779B97F4A7C15U;
    std::uint64_t z = state_;
    z = (z ^ (z >> 30U)) * 0xBF58476D1CE4E5B9U;
    z = (z ^ (z >> 27U)) * 0x94D049BB133111EBU;
    return static_cast<std::size_t>((z ^ (z >> 31U)) % n);
  }
  template <typename T>
  const T& pick(const std::vector<T>& items) {
    return items[below(items.size())];
  }

 private:
  std::uint64_t state_;
};

void add(const Ingredients& ingredients, Random& random, std::u32string& text) {
  const std::size_t kind = random.below(8);
  if (kind < 2) {
    const auto& range = random.pick(ingredients.ranges);
    text.push_back(range[0] + static_cast<char32_t>(random.below(range[1] - range[0] + 1)));
  } else if (kind < 5) {
    text.push_back(random.pick(ingredients.characters));
  } else {
    text += random.pick(ingredients.strings);
  }
}

std::u32string mojibake(const std::u32string& text, const std::vector<char32_t>& encoding) {
  std::u32string out;
  for (const char byte : encode_utf8(text)) out.push_back(encoding[static_cast<unsigned char>(byte)]);
  return out;
}

// What careless programs do to mojibake: no-break spaces become spaces, controls are lost.
void damage(std::u32string& text, std::size_t kind) {
  for (char32_t& c : text) {
    const bool c1 = c >= 0x80 && c <= 0x9F;
    if (kind == 0 && c == 0xA0) c = U' ';
    if (kind == 1 && c1) c = 0xFFFD;
    if (kind == 2 && c1) c = U'?';
  }
}

}  // namespace

Ingredients read_ingredients(const std::filesystem::path& path) {
  const auto bytes = read_file(path, std::size_t{1} << 20U);
  std::istringstream lines(std::string(bytes.begin(), bytes.end()));
  Ingredients out;
  for (std::string line; std::getline(lines, line);) {
    if (line.starts_with('#')) continue;
    std::istringstream fields(line.substr(1));
    fields >> std::hex;
    std::vector<char32_t> numbers;
    for (std::uint32_t n = 0; fields >> n;) numbers.push_back(n);
    switch (line[0]) {
      case 'E':
        out.encodings.push_back(numbers);
        break;
      case 'R':
        out.ranges.push_back(numbers);
        break;
      case 'C':
        out.characters.insert(out.characters.end(), numbers.begin(), numbers.end());
        break;
      default:
        out.strings.emplace_back(numbers.begin(), numbers.end());
    }
  }
  return out;
}

std::string make_phrase(const Ingredients& ingredients, std::uint64_t seed) {
  Random random(seed);
  std::u32string text;
  const std::size_t parts = 1 + random.below(10);
  for (std::size_t i = 0; i < parts; ++i) add(ingredients, random, text);
  const std::size_t layers = random.below(4);  // 0: none; 1, 2: so many; 3: none
  if (layers == 1 || layers == 2) {
    for (std::size_t i = 0; i < layers; ++i) text = mojibake(text, random.pick(ingredients.encodings));
    damage(text, random.below(4));
  }
  if (random.below(3) == 0) add(ingredients, random, text);
  if (random.below(4) == 0) text.erase(random.below(text.size()), 1);
  return encode_utf8(text);
}

std::uint64_t hash_ids(std::span<const std::int64_t> ids, std::uint64_t state) {
  for (const std::int64_t id : ids) {
    const auto value = static_cast<std::uint64_t>(id);
    state = (state ^ (value & 0xFFU)) * 0x100000001B3U;
    state = (state ^ (value >> 8U)) * 0x100000001B3U;
  }
  return state;
}

}  // namespace samlet::text
