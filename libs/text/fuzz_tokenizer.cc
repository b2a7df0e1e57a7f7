// Any bytes: either they are refused as ill-formed UTF-8, or the ids keep their promises.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>

#include "libs/base/utf8.h"
#include "libs/text/tokenizer.h"
#include "samlet/error.h"

namespace {

void require(bool condition) {
  if (!condition) std::abort();
}

void check(const samlet::text::Tokens& tokens, std::size_t context) {
  require(tokens.ids.size() == context && tokens.used >= 1 && tokens.used <= context);
  require(tokens.ids[tokens.used - 1] == samlet::text::kEndToken);
  require(context == 1 || tokens.ids[0] == samlet::text::kStartToken);
  require(!tokens.truncated || tokens.used == context);
  for (std::size_t i = 0; i < context; ++i) {
    require(tokens.ids[i] >= 0 && tokens.ids[i] <= samlet::text::kEndToken);
    require(i < tokens.used || tokens.ids[i] == 0);
  }
}

}  // namespace

// NOLINTNEXTLINE(readability-identifier-naming): libFuzzer looks for this name.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string phrase(data, data + size);
  const bool valid = !samlet::find_invalid_utf8(phrase).has_value();
  try {
    check(samlet::text::tokenize(phrase, 32), 32);
    check(samlet::text::tokenize(phrase, 1 + size % 7), 1 + size % 7);
    require(valid);
  } catch (const samlet::Error& error) {
    require(error.code() == samlet::ErrorCode::kPromptInvalid);
  }
  return 0;
}
