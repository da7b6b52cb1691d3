// expect: these words are in no compiler
#ifndef NEGATIVE
static_assert(true, "fine");
#else
static_assert(false, "the real reason");
#endif
