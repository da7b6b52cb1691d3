// SPDX-License-Identifier: Apache-2.0
#include "tool.hpp"

TEST_CASE("the demo runs, verifies four plans and writes their files") {
  const tool_test::workshop place("demo");
  const std::string script = (test_support::source_dir() / "examples" / "demo.sh").string();
  const std::string command = "sh '" + script + "' '" + test_support::tool().string() + "' '" +
                              (place / "files").string() + "' 1f1b,chimera,zb-h1 >'" + (place / "out").string() +
                              "' 2>&1";
  const int status = std::system(command.c_str());
  const std::string out = tool_test::content_of(place / "out");
  REQUIRE(WIFEXITED(status));
  CHECK_MESSAGE(WEXITSTATUS(status) == 0, out);
  int verified = 0;
  for (std::size_t at = out.find("\nok: "); at != std::string::npos; at = out.find("\nok: ", at + 1)) ++verified;
  CHECK(verified == 4);
  for (const std::string name : {"bert-base-gpipe", "bert-base-1f1b", "bert-base-chimera", "bert-large-chimera"}) {
    CHECK(out.find('\n' + name + "  ") != std::string::npos);  // its row in the table
    for (const std::string kind : {".plan.json", ".trace.json", ".svg", ".csv"})
      CHECK_MESSAGE(!tool_test::content_of(place / "files" / (name + kind)).empty(), name << kind);
  }
  const std::string picture = "bert-large-chimera.svg";  // README shows it; copy it there when plans change
  CHECK(tool_test::content_of(test_support::source_dir() / "docs" / "pictures" / picture) ==
        tool_test::content_of(place / "files" / picture));
  CHECK(out.find("59.8") != std::string::npos);  // busy before the fill, as published for BERT-Large
}
