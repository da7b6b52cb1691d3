// expect: never reached
static_assert(false, "wrong even without NEGATIVE");
