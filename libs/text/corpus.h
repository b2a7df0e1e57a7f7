// Test support: random phrases, the same ones that tools/text/corpus.py makes. Not part of the library.
#pragma once

#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <vector>

namespace samlet::text {

/// What the phrases are made of: testdata/ingredients.txt.
struct Ingredients {
  std::vector<std::vector<char32_t>> encodings;  ///< what bytes 00..FF are, for each
  std::vector<std::vector<char32_t>> ranges;     ///< first and last code point, for each
  std::vector<char32_t> characters;
  std::vector<std::u32string> strings;
};

/// Reads the ingredients. Errors: kNotFound, kIo.
[[nodiscard]] Ingredients read_ingredients(const std::filesystem::path& path);

/// Phrase number `seed`, in UTF-8. Pure.
[[nodiscard]] std::string make_phrase(const Ingredients& ingredients, std::uint64_t seed);

inline constexpr std::uint64_t kHashStart = 0xCBF29CE484222325;
/// FNV-1a 64 over ids, each as two little-endian bytes, going on from `state`.
[[nodiscard]] std::uint64_t hash_ids(std::span<const std::int64_t> ids, std::uint64_t state = kHashStart);

}  // namespace samlet::text
