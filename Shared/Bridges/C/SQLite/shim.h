#pragma once
#include <sqlite3.h>

// Variadic functions and function-pointer macros, in a form Swift can call.

// Global memory statistics take one lock an allocation. To be called before SQLite is used.
static inline int CSQLite_config_memory_statistics(int on) { return sqlite3_config(SQLITE_CONFIG_MEMSTATUS, on); }

static inline int CSQLite_db_config_defensive(sqlite3 *db, int on) {
  return sqlite3_db_config(db, SQLITE_DBCONFIG_DEFENSIVE, on, (int *)0);
}

static inline int CSQLite_db_config_trusted_schema(sqlite3 *db, int on) {
  return sqlite3_db_config(db, SQLITE_DBCONFIG_TRUSTED_SCHEMA, on, (int *)0);
}

static inline int CSQLite_bind_text_copy(sqlite3_stmt *s, int i, const char *text, sqlite3_uint64 bytes) {
  return sqlite3_bind_text64(s, i, text, bytes, SQLITE_TRANSIENT, SQLITE_UTF8);
}

static inline int CSQLite_bind_blob_copy(sqlite3_stmt *s, int i, const void *data, sqlite3_uint64 bytes) {
  return sqlite3_bind_blob64(s, i, data, bytes, SQLITE_TRANSIENT);
}

// The bytes must stay where they are until the statement has been stepped and the parameter is bound anew.
static inline int CSQLite_bind_blob_borrowed(sqlite3_stmt *s, int i, const void *data, sqlite3_uint64 bytes) {
  return sqlite3_bind_blob64(s, i, data, bytes, SQLITE_STATIC);
}

static inline void CSQLite_result_text_copy(sqlite3_context *c, const char *text, int bytes) {
  sqlite3_result_text(c, text, bytes, SQLITE_TRANSIENT);
}

// An empty blob may have no address, and no address is NULL.
static inline void CSQLite_result_blob_copy(sqlite3_context *c, const void *data, int bytes) {
  if (bytes == 0) sqlite3_result_zeroblob(c, 0);
  else sqlite3_result_blob(c, data, bytes, SQLITE_TRANSIENT);
}
