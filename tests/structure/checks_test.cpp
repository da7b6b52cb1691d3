// SPDX-License-Identifier: Apache-2.0
// A check that cannot fail is worth nothing: every rule is seen to refuse a wrong sample and to accept a right one.
#include "checks.hpp"

#include <doctest/doctest.h>

using namespace structure;

TEST_CASE("levels: a folder includes what is below it and nothing else") {
  CHECK(check_levels("fill", "#include <brim/fill/item.hpp>\n#include <brim/core/ticks.hpp>\n").empty());
  CHECK(check_levels("core", "#include <brim/version.hpp>\n").empty());
  CHECK(check_levels("precondition", "#include <brim/model/shape.hpp>\n#include <brim/linalg/x.hpp>\n").empty());
  CHECK_FALSE(check_levels("core", "#include <brim/model/shape.hpp>\n").empty());
  CHECK_FALSE(check_levels("core", "int x;\n  # include <brim/model/shape.hpp>\n").empty());
  CHECK_FALSE(check_levels("graph", "#include <brim/schedule/simulate.hpp>\n").empty());
  CHECK_FALSE(check_levels("replay", "#include <brim/io/json.hpp>\n").empty());
  CHECK_FALSE(check_levels("linalg", "#include <brim/model/shape.hpp>\n").empty());
  CHECK_FALSE(check_levels("core", "#include <brim/brim.hpp>\n").empty());
  CHECK_FALSE(check_levels("fill", "#include \"item.hpp\"\n").empty());
  CHECK_FALSE(check_levels("attic", "").empty());
}

TEST_CASE("levels: the umbrella takes only what needs nothing but the standard library") {
  CHECK(check_levels("", "#include <brim/plan/verify.hpp>\n#include <brim/version.hpp>\n").empty());
  CHECK_FALSE(check_levels("", "#include <brim/graph/view.hpp>\n").empty());
  CHECK_FALSE(check_levels("", "#include <brim/io/profile.hpp>\n").empty());
  CHECK_FALSE(check_levels("", "#include <brim/replay/dry_run.hpp>\n").empty());
}

TEST_CASE("dependencies: other libraries stay in their folders") {
  CHECK(check_dependencies("graph", "#include <boost/graph/adjacency_list.hpp>\n#include <vector>\n").empty());
  CHECK(check_dependencies("replay", "#include <mpi.h>\n").empty());
  CHECK_FALSE(check_dependencies("schedule", "#include <boost/graph/adjacency_list.hpp>\n").empty());
  CHECK_FALSE(check_dependencies("graph", "#include <nlohmann/json.hpp>\n").empty());
  CHECK_FALSE(check_dependencies("core", "#include <stdint.h>\n").empty());
}

TEST_CASE("include diet: heavy headers only in io and replay") {
  CHECK(check_include_diet("core", "#include <vector>\n").empty());
  CHECK(check_include_diet("io", "#include <iostream>\n").empty());
  for (const char* name : {"iostream", "regex", "functional", "ranges", "chrono", "memory"}) {
    CHECK_FALSE(check_include_diet("core", std::string("#include <") + name + ">\n").empty());
  }
}

TEST_CASE("length: a cap for each header and one for the median") {
  const std::string long_text(501, '\n');
  CHECK(check_length(long_text.substr(1)).empty());
  CHECK_FALSE(check_length(long_text).empty());
  CHECK(check_median_length({10, 150, 500}).empty());
  CHECK_FALSE(check_median_length({10, 151, 500}).empty());
  CHECK_FALSE(check_median_length({}).empty());
}

TEST_CASE("pragma once comes first, after comments") {
  CHECK(check_pragma_once("// licence\n/* two\nlines */\n#pragma once\n").empty());
  CHECK_FALSE(check_pragma_once("#include <vector>\n#pragma once\n").empty());
  CHECK_FALSE(check_pragma_once("// #pragma once\nint x;\n").empty());
  CHECK_FALSE(check_pragma_once("").empty());
}

TEST_CASE("macros: three and no more") {
  CHECK(check_macros("#define BRIM_EXPECT(x) x\n# define BRIM_VERSION 1\n// #define OTHER\n").empty());
  CHECK_FALSE(check_macros("#define BRIM_OTHER 1\n").empty());
  CHECK_FALSE(check_macros("  #  define helper(x) x\n").empty());
}

TEST_CASE("reserved names are refused, the compiler's own are not") {
  CHECK(check_reserved_names("int ready_ = 0; auto [_, x] = f(); // _comment __x\n").empty());
  CHECK(check_reserved_names("#if __has_include(<x>)\n__builtin_trap(); f(__FILE__, \"__text _x\");\n").empty());
  CHECK(check_reserved_names("constexpr ticks operator\"\"_ms(unsigned long long n); auto t = 5_ms;\n").empty());
  CHECK_FALSE(check_reserved_names("int _ready;\n").empty());
  CHECK_FALSE(check_reserved_names("struct _Ready {};\n").empty());
  CHECK_FALSE(check_reserved_names("int a__b;\n").empty());
  CHECK_FALSE(check_reserved_names("#define BRIM__X 1\n").empty());
  CHECK_FALSE(check_reserved_names("int x = 1'000; int _y;\n").empty());
  CHECK_FALSE(check_reserved_names("char c = '\"'; int _y;\n").empty());
  CHECK_FALSE(check_reserved_names("auto s = R\"(raw \" text)\"; int _y;\n").empty());
}

TEST_CASE("concepts are named in snake_case") {
  CHECK(check_concept_names("template <class S> concept pipeline_scheme = true; // concept Old\n").empty());
  CHECK_FALSE(check_concept_names("template <class S> concept PipelineScheme = true;\n").empty());
  CHECK_FALSE(check_concept_names("template <class S>\nconcept pipeline_Scheme = true;\n").empty());
}

TEST_CASE("letters are no enumerators outside io") {
  CHECK(check_letters("model", "enum class kind { forward, backward };\nint f;\n").empty());
  CHECK(check_letters("model", "enum class side { none, a, b };\n").empty());
  CHECK(check_letters("io", "enum class letter { F, B };\n").empty());
  CHECK_FALSE(check_letters("model", "enum class kind : char { F, backward };\n").empty());
  CHECK_FALSE(check_letters("model", "enum kind {\n  forward,\n  B = 2,\n};\n").empty());
  CHECK_FALSE(check_letters("model", "enum class kind { forward, W };\n").empty());
}

TEST_CASE("check_header applies every rule") {
  CHECK(check_header("core", "#pragma once\n").empty());
  CHECK(check_header("core",
                     "#define X\n#include <regex>\n#include <brim/io/x.hpp>\n#include <boost/x.hpp>\nint _x;\n"
                     "template <class T> concept Bad = true;\nenum class e { F };\n" +
                         std::string(500, '\n'))
            .size() == 9);
}

TEST_CASE("top level: no other folders") {
  CHECK(check_top_level({"include", "tests", "bench", "examples", "docs"}).empty());
  CHECK_FALSE(check_top_level({"include", "cmake"}).empty());
}

TEST_CASE("mirrors: every folder has its tests and its page") {
  CHECK(check_mirrors({"core"}, {"docs/reference/core.md", "tests/unit/core/ticks.cpp"}).empty());
  CHECK(check_mirrors({"core"}, {"docs/reference/core.md"}).size() == 1);
  CHECK(check_mirrors({"core"}, {"tests/unit/core/ticks.cpp", "tests/unit/core_more/x.cpp"}).size() == 1);
  CHECK(check_mirrors({"core"}, {"docs/reference/model.md", "tests/unit/model/x.cpp"}).size() == 2);
}

TEST_CASE("changelog: this version or what is not released yet") {
  CHECK(check_changelog("# Changelog\n\n## [Unreleased]\n", "1.2.3").empty());
  CHECK(check_changelog("## 1.2.3 - a date\n", "1.2.3").empty());
  CHECK_FALSE(check_changelog("## 1.2.30\n", "1.2.3").empty());
  CHECK_FALSE(check_changelog("Unreleased things are good\n", "1.2.3").empty());
}

TEST_CASE("text tools: comments and literals go, lines stay") {
  CHECK(code_only("a // b\n/* c\n */d \"e\\\"f\" 'g'\n") == "a \n\nd \"\" ''\n");
  CHECK(code_only("1'000 // x") == "1'000 ");
  CHECK(code_only("R\"(a\nb)\" c") == "\n\"\" c");
  CHECK(code_only("\"open") == "\"\"");
  CHECK(split("a\n\nb").size() == 3);
}
