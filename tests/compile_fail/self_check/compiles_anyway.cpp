// expect: never reached
#ifdef NEGATIVE
static_assert(true, "nothing is wrong here");
#endif
