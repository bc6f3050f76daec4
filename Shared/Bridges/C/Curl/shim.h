#pragma once
// The checks of arguments are for people who write C.
#define CURL_DISABLE_TYPECHECK 1
#include <curl/curl.h>
#include <stdio.h>
#include <sys/socket.h>

// curl_easy_setopt and curl_easy_getinfo are variadic, which Swift cannot call; and a request is a handful of them.

// Once a process, before the first handle.
static inline void CCurl_prepare(void) { curl_global_init(CURL_GLOBAL_DEFAULT); }

// Takes a piece of the answer; fewer bytes than it got end the transfer.
typedef size_t (*CCurl_writer)(char *data, size_t size, size_t count, void *context);

// Whether a connection to this address may be made. It is asked with each address that is about to be connected to, so
// that a name cannot mean one thing when it is checked and another when it is used.
typedef int (*CCurl_permission)(const struct sockaddr *address, void *context);

struct CCurl_request {
  const char *method;
  const char *url;
  const char *signature;    // of CURLOPT_AWS_SIGV4, or NULL
  const char *credentials;  // id:secret, or NULL
  const char *authority;    // a file in PEM, or NULL: those that the system trusts
  struct curl_slist *headers;
  FILE *file;               // the body, or NULL
  const char *bytes;        // the body, or NULL
  curl_off_t body_bytes;
  long connect_milliseconds;
  long stall_seconds;       // a transfer slower than a byte a second for so long is given up
  long total_milliseconds;  // 0: as long as it takes
  CCurl_writer writer;
  CCurl_writer header_writer;
  CCurl_permission permits;  // NULL: all addresses
  void *context;
};

static curl_socket_t CCurl_open(void *request, curlsocktype purpose, struct curl_sockaddr *address) {
  const struct CCurl_request *r = request;
  (void)purpose;
  if (r->permits && !r->permits(&address->addr, r->context)) return CURL_SOCKET_BAD;
  return socket(address->family, address->socktype | SOCK_CLOEXEC, address->protocol);
}

// Returns the status of the answer; 0, `*code` and a line in `error` when there was none.
static inline long CCurl_perform(
    CURL *curl, const struct CCurl_request *r, char error[CURL_ERROR_SIZE], CURLcode *code) {
  long status = 0;
  error[0] = 0;
  curl_easy_reset(curl);
  curl_easy_setopt(curl, CURLOPT_URL, r->url);
  curl_easy_setopt(curl, CURLOPT_PROTOCOLS_STR, "http,https");
  // Nobody between: neither a proxy that a variable names, nor a place that an answer does.
  curl_easy_setopt(curl, CURLOPT_PROXY, "");
  curl_easy_setopt(curl, CURLOPT_FOLLOWLOCATION, 0L);
  curl_easy_setopt(curl, CURLOPT_SSLVERSION, (long)CURL_SSLVERSION_TLSv1_2);
  if (r->authority) {
    curl_easy_setopt(curl, CURLOPT_CAINFO, r->authority);
    // The directory of the system's is another list, which would count as well.
    curl_easy_setopt(curl, CURLOPT_CAPATH, NULL);
  }
  curl_easy_setopt(curl, CURLOPT_NOSIGNAL, 1L);
  curl_easy_setopt(curl, CURLOPT_ERRORBUFFER, error);
  curl_easy_setopt(curl, CURLOPT_CONNECTTIMEOUT_MS, r->connect_milliseconds);
  curl_easy_setopt(curl, CURLOPT_TIMEOUT_MS, r->total_milliseconds);
  // A server that does not know the question is not waited for. (Leaving the question out, by an empty header, would
  // have libcurl 7.88 sign a header that it does not send.)
  curl_easy_setopt(curl, CURLOPT_EXPECT_100_TIMEOUT_MS, 100L);
  curl_easy_setopt(curl, CURLOPT_LOW_SPEED_LIMIT, 1L);
  curl_easy_setopt(curl, CURLOPT_LOW_SPEED_TIME, r->stall_seconds);
  if (r->signature) curl_easy_setopt(curl, CURLOPT_AWS_SIGV4, r->signature);
  if (r->credentials) curl_easy_setopt(curl, CURLOPT_USERPWD, r->credentials);
  curl_easy_setopt(curl, CURLOPT_HTTPHEADER, r->headers);
  curl_easy_setopt(curl, CURLOPT_WRITEFUNCTION, r->writer);
  curl_easy_setopt(curl, CURLOPT_WRITEDATA, r->context);
  curl_easy_setopt(curl, CURLOPT_HEADERFUNCTION, r->header_writer);
  curl_easy_setopt(curl, CURLOPT_HEADERDATA, r->context);
  if (r->permits) {
    curl_easy_setopt(curl, CURLOPT_OPENSOCKETFUNCTION, CCurl_open);
    curl_easy_setopt(curl, CURLOPT_OPENSOCKETDATA, (void *)r);
  }
  if (r->file) {
    curl_easy_setopt(curl, CURLOPT_UPLOAD, 1L);
    curl_easy_setopt(curl, CURLOPT_READDATA, r->file);
    curl_easy_setopt(curl, CURLOPT_INFILESIZE_LARGE, r->body_bytes);
  } else if (r->bytes) {
    curl_easy_setopt(curl, CURLOPT_POSTFIELDS, r->bytes);
    curl_easy_setopt(curl, CURLOPT_POSTFIELDSIZE_LARGE, r->body_bytes);
    curl_easy_setopt(curl, CURLOPT_CUSTOMREQUEST, r->method);
  } else {
    curl_easy_setopt(curl, CURLOPT_CUSTOMREQUEST, r->method);
  }
  *code = curl_easy_perform(curl);
  if (*code == CURLE_OK) curl_easy_getinfo(curl, CURLINFO_RESPONSE_CODE, &status);
  curl_easy_setopt(curl, CURLOPT_ERRORBUFFER, NULL);
  return status;
}
