#pragma once
// Numbers in text.

#include <charconv>
#include <cmath>
#include <optional>
#include <string_view>

namespace articula {

inline bool is_space(char c) { return c == ' ' || (c >= '\t' && c <= '\r'); }

// The next word of the text, which is cut off its front; empty at the end.
inline std::string_view next_word(std::string_view& text) {
  std::size_t begin = 0;
  while (begin < text.size() && is_space(text[begin])) ++begin;
  std::size_t end = begin;
  while (end < text.size() && !is_space(text[end])) ++end;
  const std::string_view word = text.substr(begin, end - begin);
  text.remove_prefix(end);
  return word;
}

inline std::size_t count_words(std::string_view text) {
  std::size_t words = 0;
  while (!next_word(text).empty()) ++words;
  return words;
}

// The whole word as a number. Out of range, however large or small, is no number; NaN and
// infinity, spelt out, are: the caller says whether it wants them.
template <class Number>
std::optional<Number> to_number(std::string_view word) {
  if (word.starts_with('+')) word.remove_prefix(1);
  Number value{};
  const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), value);
  if (error != std::errc{} || end != word.data() + word.size() || word.empty()) return std::nullopt;
  return value;
}

// A finite number; one too small to represent counts as zero.
inline std::optional<double> to_finite(std::string_view word) {
  if (word.starts_with('+')) word.remove_prefix(1);
  double value = 0.0;
  const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), value);
  if (end != word.data() + word.size() || word.empty()) return std::nullopt;
  if (error == std::errc::result_out_of_range) {
    // from_chars does not say in which direction; a negative exponent tells.
    const std::size_t exponent = word.find_first_of("eE");
    const bool tiny = exponent != word.npos ? word.substr(exponent + 1).starts_with('-')
                                            : word.find_first_of("123456789") > word.find('.');
    if (tiny) return 0.0;
    return std::nullopt;
  }
  if (error != std::errc{} || !std::isfinite(value)) return std::nullopt;
  return value;
}

}  // namespace articula
