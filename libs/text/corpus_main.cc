// Prints what the tokenizer makes of phrases, for tools/text/differential.py to compare with the reference.
//   samlet_text_corpus corpus INGREDIENTS FIRST COUNT   the corpus' phrases: one hash of ids for each
//   samlet_text_corpus lines                            phrases from stdin, UTF-8 in hexadecimal, one a line:
//   their ids
#include <cstdio>
#include <cstdlib>
#include <iostream>
#include <string>

#include "libs/text/corpus.h"
#include "libs/text/tokenizer.h"
#include "samlet/error.h"

namespace {

constexpr std::size_t kContext = 256;  // long, so that a difference late in a phrase shows

std::string from_hex(const std::string& hex) {
  std::string bytes;
  for (std::size_t i = 0; i + 1 < hex.size(); i += 2) {
    bytes.push_back(static_cast<char>(std::stoi(hex.substr(i, 2), nullptr, 16)));
  }
  return bytes;
}

void print_corpus(const char* ingredients_path, std::uint64_t first, std::uint64_t count) {
  const auto ingredients = samlet::text::read_ingredients(ingredients_path);
  for (std::uint64_t seed = first; seed < first + count; ++seed) {
    auto tokens = samlet::text::tokenize(samlet::text::make_phrase(ingredients, seed), kContext);
    tokens.ids.resize(tokens.used);
    std::printf("%016llx\n", static_cast<unsigned long long>(samlet::text::hash_ids(tokens.ids)));
  }
}

void print_lines() {
  for (std::string line; std::getline(std::cin, line);) {
    auto tokens = samlet::text::tokenize(from_hex(line), kContext);
    tokens.ids.resize(tokens.used);
    for (const auto id : tokens.ids) std::printf("%lld ", static_cast<long long>(id));
    std::printf("\n");
  }
}

}  // namespace

int main(int argc, char** argv) {
  try {
    const std::string mode = argc > 1 ? argv[1] : "";
    if (mode == "corpus" && argc == 5) {
      print_corpus(argv[2], std::strtoull(argv[3], nullptr, 10), std::strtoull(argv[4], nullptr, 10));
    } else if (mode == "lines") {
      print_lines();
    } else {
      std::fprintf(stderr, "usage: samlet_text_corpus corpus INGREDIENTS FIRST COUNT | lines\n");
      return 2;
    }
  } catch (const samlet::Error& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 1;
  }
  return 0;
}
