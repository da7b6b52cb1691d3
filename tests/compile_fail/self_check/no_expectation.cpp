#ifdef NEGATIVE
static_assert(false, "nobody asked for this reason");
#endif
