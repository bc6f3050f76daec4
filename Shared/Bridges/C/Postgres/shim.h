#pragma once
#include <postgresql/libpq-fe.h>

// Notices are for people at a terminal; without this they go to standard error.
static inline void CPostgres_ignore_notice(void *context, const PGresult *notice) {
  (void)context;
  (void)notice;
}

static inline void CPostgres_ignore_notices(PGconn *connection) {
  PQsetNoticeReceiver(connection, CPostgres_ignore_notice, (void *)0);
}
