#include "CRelease.h"

#ifndef CARAVAN_COMMIT
#define CARAVAN_COMMIT "unknown"
#endif

const char *const CRelease_commit = CARAVAN_COMMIT;
