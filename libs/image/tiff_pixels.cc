#include "libs/image/tiff_pixels.h"

#include <algorithm>
#include <cmath>
#include <cstring>

namespace samlet {
namespace {

void unpack_bytes(const TiffBand& band, std::span<std::uint16_t> out) {
  const std::uint8_t* from = band.row.data() + band.first;
  for (std::size_t i = 0; i < out.size(); ++i) out[i] = from[i * band.step];
}

void unpack_words(const TiffBand& band, std::span<std::uint16_t> out) {
  const std::uint8_t* from = band.row.data() + 2 * band.first;
  for (std::size_t i = 0; i < out.size(); ++i) std::memcpy(&out[i], from + 2 * i * band.step, 2);
}

/// Any other number of bits: a sample lies in at most three bytes.
void unpack_bits(const TiffBand& band, unsigned bits, std::span<std::uint16_t> out) {
  const std::size_t last = band.row.size() - 1;
  for (std::size_t i = 0; i < out.size(); ++i) {
    const std::size_t bit = (band.first + i * band.step) * bits;
    const std::size_t byte = bit / 8;
    const std::uint32_t window = std::uint32_t{band.row[byte]} << 16 |
                                 std::uint32_t{band.row[std::min(byte + 1, last)]} << 8 |
                                 std::uint32_t{band.row[std::min(byte + 2, last)]};
    const auto below = static_cast<unsigned>(24 - bit % 8 - bits);
    out[i] = static_cast<std::uint16_t>((window >> below) & ((1U << bits) - 1));
  }
}

void unpack(const TiffBand& band, unsigned bits, std::span<std::uint16_t> out) {
  if (bits == 8) {
    unpack_bytes(band, out);
  } else if (bits == 16) {
    unpack_words(band, out);
  } else {
    unpack_bits(band, bits, out);
  }
}

/// v x 255 / largest, rounded half up.
std::uint8_t rounded(std::uint32_t value, std::uint32_t largest) {
  return static_cast<std::uint8_t>((2 * 255 * value + largest) / (2 * largest));
}

std::vector<std::uint8_t> eight_bits(unsigned bits, bool inverted) {
  const std::uint32_t largest = (1U << bits) - 1;
  std::vector<std::uint8_t> table(std::size_t{1} << bits);
  for (std::uint32_t v = 0; v <= largest; ++v) table[v] = rounded(inverted ? largest - v : v, largest);
  return table;
}

/// Pillow takes the upper byte of each value. Some writers have put 8-bit values there, which would all be
/// black then: as libtiff's own viewers do, a palette without any larger value is taken for such a one.
std::vector<std::uint8_t> palette_of(const TiffPage& page) {
  const std::size_t colours = std::size_t{1} << page.bits_each();
  const std::span<const std::uint32_t> values = std::span(page.palette).first(3 * colours);
  const bool eight_bits = std::all_of(values.begin(), values.end(), [](std::uint32_t v) { return v < 256; });
  std::vector<std::uint8_t> palette;
  for (std::size_t i = 0; i < colours; ++i) {
    for (std::size_t c = 0; c < 3; ++c) {
      const std::uint32_t value = values[c * colours + i];
      palette.push_back(static_cast<std::uint8_t>(eight_bits ? value : value >> 8));
    }
  }
  return palette;
}

/// Pillow Convert.c, cmyk2rgb: with n = 255 - k, channel = n - round(c * n / 255).
std::uint8_t without_ink(std::uint8_t colour, std::uint8_t black) {
  const unsigned n = 255U - black;
  const unsigned product = colour * n + 128U;
  return static_cast<std::uint8_t>(n - ((product + (product >> 8)) >> 8));
}

/// Pillow ConvertYCbCr.c: products in 64ths, of which half of one is added before the
/// fraction is cut off.
std::array<int, 256> chroma_products(double factor) {
  std::array<int, 256> products{};
  for (int i = 0; i < 256; ++i) {
    products[static_cast<std::size_t>(i)] = static_cast<int>(std::trunc(factor * (i - 128) * 64 + 0.5));
  }
  return products;
}

std::uint8_t clamped(int value) {
  return static_cast<std::uint8_t>(std::clamp(value, 0, 255));
}

}  // namespace

void ycbcr_to_rgb(std::span<std::uint8_t> pixels) {
  static const std::array<int, 256> kRedOfCr = chroma_products(1.402);
  static const std::array<int, 256> kGreenOfCb = chroma_products(-0.34414);
  static const std::array<int, 256> kGreenOfCr = chroma_products(-0.71414);
  static const std::array<int, 256> kBlueOfCb = chroma_products(1.772);
  for (std::size_t i = 0; i + 2 < pixels.size(); i += 3) {
    const int y = pixels[i];
    const std::uint8_t cb = pixels[i + 1];
    const std::uint8_t cr = pixels[i + 2];
    pixels[i] = clamped(y + (kRedOfCr[cr] >> 6));
    pixels[i + 1] = clamped(y + ((kGreenOfCb[cb] + kGreenOfCr[cr]) >> 6));
    pixels[i + 2] = clamped(y + (kBlueOfCb[cb] >> 6));
  }
}

TiffConverter::TiffConverter(const TiffPage& page)
    : photometric_(page.photometric), bits_(page.bits_each()), premultiplied_(page.premultiplied()) {
  if (photometric_ == TiffPhotometric::kPalette) {
    palette_ = palette_of(page);
  } else {
    eight_ = eight_bits(bits_, photometric_ == TiffPhotometric::kWhiteIsZero);
  }
  values_.resize(page.colour_bands() + (premultiplied_ ? 1U : 0U));
}

void TiffConverter::convert(std::span<const TiffBand> bands, std::size_t pixels, std::uint8_t* rgb) {
  for (std::size_t b = 0; b < values_.size(); ++b) {
    values_[b].resize(std::max(values_[b].size(), pixels));
    unpack(bands[b], bits_, std::span(values_[b]).first(pixels));
  }
  to_rgb(pixels, rgb);
}

/// 8 bits as Pillow divides (rounded down), more bits rounded; without alpha there is no colour.
std::uint8_t TiffConverter::divided(std::uint32_t value, std::uint32_t alpha) const {
  if (alpha == 0) return 0;
  if (value >= alpha) return 255;
  return bits_ == 8 ? static_cast<std::uint8_t>(255 * value / alpha) : rounded(value, alpha);
}

void TiffConverter::to_rgb(std::size_t pixels, std::uint8_t* rgb) const {
  const std::size_t colours = values_.size() - (premultiplied_ ? 1 : 0);
  for (std::size_t i = 0; i < pixels; ++i, rgb += 3) {
    if (!palette_.empty()) {
      std::copy_n(palette_.data() + std::size_t{3} * values_[0][i], 3, rgb);
      continue;
    }
    for (std::size_t c = 0; c < 3; ++c) {
      const std::uint16_t value = values_[colours == 1 ? 0 : c][i];
      if (premultiplied_) {
        rgb[c] = divided(value, values_[colours][i]);
      } else if (colours == 4) {
        rgb[c] = without_ink(eight_[value], eight_[values_[3][i]]);
      } else {
        rgb[c] = eight_[value];
      }
    }
  }
}

}  // namespace samlet
