// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <sstream>
#include <string>
#include <vector>

namespace structure {

/// The part of a file between the lines `// [name]` and `// [/name]` (any comment sign may stand before the brackets);
/// the whole file where `name` is empty.
inline std::string region_of(const std::string& text, const std::string& name) {
  if (name.empty()) return text;
  std::istringstream lines(text);
  std::string out;
  bool inside = false;
  for (std::string line; std::getline(lines, line);) {
    if (line.find("[/" + name + "]") != std::string::npos) return out;
    if (inside) out += line + "\n";
    if (line.find("[" + name + "]") != std::string::npos) inside = true;
  }
  return {};
}

/// Documentation shows code and output by quoting files: a line `<!-- from: path -->` or `<!-- from: path#region -->`, then a fenced
/// block. Gives a sentence for every block that is not what the file says now. `read(path)` gives a file's text.
inline std::vector<std::string> stale_quotes(const std::string& page, const std::string& markdown,
                                             const std::function<std::string(const std::string&)>& read) {
  std::vector<std::string> faults;
  std::istringstream lines(markdown);
  std::string line;
  while (std::getline(lines, line)) {
    const std::string mark = "<!-- from: ";
    if (line.rfind(mark, 0) != 0) continue;
    const std::string source = line.substr(mark.size(), line.find(" -->") - mark.size());
    const std::size_t hash = source.find('#');
    const std::string wanted =
        region_of(read(source.substr(0, hash)), hash == std::string::npos ? "" : source.substr(hash + 1));
    std::string quoted;
    if (!std::getline(lines, line) || line.rfind("```", 0) != 0) {
      faults.push_back(page + ": no fenced block after the mark for " + source);
      continue;
    }
    while (std::getline(lines, line) && line != "```") quoted += line + "\n";
    if (wanted.empty())
      faults.push_back(page + ": " + source + " does not exist or is empty");
    else if (quoted != wanted)
      faults.push_back(page + ": the block from " + source + " is not what the file says; copy it again");
  }
  return faults;
}

/// Relative links of a page whose target does not exist. `exists(path)` is asked with the path from the page's folder.
inline std::vector<std::string> broken_links(const std::string& page, const std::string& markdown,
                                             const std::function<bool(const std::string&)>& exists) {
  std::vector<std::string> faults;
  for (std::size_t at = markdown.find("]("); at != std::string::npos; at = markdown.find("](", at + 2)) {
    std::string target = markdown.substr(at + 2, markdown.find(')', at) - at - 2);
    target = target.substr(0, target.find('#'));
    if (target.empty() || target.find("://") != std::string::npos || target.find(' ') != std::string::npos) continue;
    if (!exists(target)) faults.push_back(page + ": the link to " + target + " leads nowhere");
  }
  return faults;
}

/// Targets to which a page has no link.
inline std::vector<std::string> unlinked(const std::string& markdown, const std::vector<std::string>& targets) {
  std::vector<std::string> faults;
  for (const std::string& target : targets)
    if (markdown.find("](" + target + ")") == std::string::npos) faults.push_back("no link to " + target);
  return faults;
}

/// Rows `| level | `folder` | ...` of the table of folders: whether the folder is there must agree with `(planned)`.
inline std::vector<std::string> wrong_folders(const std::string& markdown,
                                              const std::function<bool(const std::string&)>& exists) {
  std::vector<std::string> faults;
  std::istringstream lines(markdown);
  for (std::string line; std::getline(lines, line);) {
    const std::string start = "| 0 | `";  // with any level
    if (line.size() < start.size() || line.substr(3, 4) != start.substr(3) || line[2] < '0' || line[2] > '9') continue;
    const std::string folder = line.substr(start.size(), line.find('`', start.size()) - start.size());
    const bool planned = line.find("` (planned) |") != std::string::npos;
    if (exists(folder) == planned) faults.push_back(folder + (planned ? " is there" : " is not there"));
  }
  return faults;
}

}  // namespace structure
