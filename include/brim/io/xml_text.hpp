// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <brim/io/json_writer.hpp>

#include <cstddef>
#include <string>
#include <string_view>

namespace brim::detail {

/// Appends text as XML character data. What XML 1.0 cannot hold (control characters, bytes that are not UTF-8) becomes
/// U+FFFD; line breaks become spaces, since a label is one line.
inline void append_xml_escaped(std::string& out, std::string_view text) {
  while (!text.empty()) {
    const std::size_t length = utf8_length(text);
    const char c = text.front();
    if (length > 1) {
      const std::string_view sequence = text.substr(0, length);
      out += sequence == "\xEF\xBF\xBE" || sequence == "\xEF\xBF\xBF" ? "\xEF\xBF\xBD" : sequence;
    } else if (length == 0) {
      out += "\xEF\xBF\xBD";
    } else {
      switch (c) {
        case '<': out += "&lt;"; break;
        case '>': out += "&gt;"; break;
        case '&': out += "&amp;"; break;
        case '"': out += "&quot;"; break;
        case '\n':
        case '\r':
        case '\t': out += ' '; break;
        default:
          if (static_cast<unsigned char>(c) < 0x20U)
            out += "\xEF\xBF\xBD";
          else
            out += c;
      }
    }
    text.remove_prefix(length == 0 ? 1 : length);
  }
}

}  // namespace brim::detail
