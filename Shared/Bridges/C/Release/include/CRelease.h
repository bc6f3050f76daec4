#pragma once
// The commit that the executable was built from, as far as the build knew; else "unknown".
extern const char *const CRelease_commit;
