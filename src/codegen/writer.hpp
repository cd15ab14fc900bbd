// Indented text: all source that the emitters write goes through it.
#pragma once

#include <fmt/format.h>

#include <string>
#include <utility>

namespace ricci::codegen {

class Writer {
 public:
  template <class... Args>
  void line(fmt::format_string<Args...> format, Args&&... args) {
    put(fmt::format(format, std::forward<Args>(args)...));
  }
  void blank() { text_ += '\n'; }

  /// A line that ends in "{" and indents what follows, until close().
  template <class... Args>
  void open(fmt::format_string<Args...> format, Args&&... args) {
    put(fmt::format(format, std::forward<Args>(args)...));
    ++depth_;
  }
  void close(const char* text = "}") {
    --depth_;
    put(text);
  }

  void otherwise() {
    close("} else {");
    ++depth_;
  }

  std::string take() { return std::move(text_); }

 private:
  void put(const std::string& text) {
    if (!text.empty()) text_.append(static_cast<std::size_t>(2 * depth_), ' ');
    text_ += text;
    text_ += '\n';
  }

  std::string text_;
  int depth_ = 0;
};

}  // namespace ricci::codegen
