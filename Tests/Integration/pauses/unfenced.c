// A storage process that does not care whether it still holds a partition.
//
// Loaded with LD_PRELOAD. Of what it has PostgreSQL prepare, this takes away what keeps it from writing beside others:
// the hold on the partition's row, and the comparison with what it has read. Nor is its transaction ended.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *const rules[][2] = {
    {"FROM caravan_partitions\nWHERE partition = $1 FOR UPDATE", "FROM caravan_partitions WHERE partition = $1"},
    {"CASE WHEN head = $2 THEN $3 ELSE -1 END", "CASE WHEN head = $2 THEN $3 ELSE $3 END"},
    {"CASE WHEN z.seq = w.before THEN w.seq ELSE -1 END", "w.seq"},
    {"SET idle_in_transaction_session_timeout = '10s'", "SET idle_in_transaction_session_timeout = 0"},
};

int PQsendPrepare(void *connection, const char *name, const char *query, int count, const unsigned *types) {
  __typeof__(&PQsendPrepare) real = (__typeof__(&PQsendPrepare))dlsym(RTLD_NEXT, "PQsendPrepare");
  char *text = strdup(query);
  for (size_t i = 0; i < sizeof rules / sizeof *rules; i++) {
    char *place = strstr(text, rules[i][0]), *next;
    if (!place) continue;
    if (asprintf(&next, "%.*s%s%s", (int)(place - text), text, rules[i][1], place + strlen(rules[i][0])) < 0) abort();
    free(text);
    text = next;
  }
  int sent = real(connection, name, text, count, types);
  free(text);
  return sent;
}
