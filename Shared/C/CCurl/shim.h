#pragma once
// The checks of arguments are for people who write C.
#define CURL_DISABLE_TYPECHECK 1
#include <curl/curl.h>
#include <stdio.h>
#include <string.h>

// curl_easy_setopt and curl_easy_getinfo are variadic, which Swift cannot call; and a request is a handful of them.

// Once a process, before the first handle.
static inline void CCurl_prepare(void) { curl_global_init(CURL_GLOBAL_DEFAULT); }

// What a server answers, as far as it fits: enough to see what is wrong.
struct CCurl_answer {
  char text[512];
  size_t length;
};

static inline size_t CCurl_keep(char *data, size_t size, size_t count, void *context) {
  struct CCurl_answer *answer = (struct CCurl_answer *)context;
  size_t bytes = size * count, room = sizeof answer->text - answer->length;
  size_t kept = bytes < room ? bytes : room;
  memcpy(answer->text + answer->length, data, kept);
  answer->length += kept;
  return bytes;
}

struct CCurl_request {
  const char *method;
  const char *url;
  const char *signature;    // of CURLOPT_AWS_SIGV4
  const char *credentials;  // id:secret
  struct curl_slist *headers;
  FILE *body;               // or NULL
  curl_off_t body_bytes;
  long connect_milliseconds;
  long stall_seconds;  // a transfer slower than a byte a second for so long is given up
};

// Returns the status of the answer; 0 and `*code` when there was none.
static inline long CCurl_perform(
    CURL *curl, const struct CCurl_request *r, struct CCurl_answer *answer, CURLcode *code) {
  long status = 0;
  curl_easy_reset(curl);
  curl_easy_setopt(curl, CURLOPT_URL, r->url);
  curl_easy_setopt(curl, CURLOPT_PROTOCOLS_STR, "http,https");
  curl_easy_setopt(curl, CURLOPT_NOSIGNAL, 1L);
  curl_easy_setopt(curl, CURLOPT_CONNECTTIMEOUT_MS, r->connect_milliseconds);
  // A server that does not know the question is not waited for. (Leaving the question out, by an empty header, would
  // have libcurl 7.88 sign a header that it does not send.)
  curl_easy_setopt(curl, CURLOPT_EXPECT_100_TIMEOUT_MS, 100L);
  curl_easy_setopt(curl, CURLOPT_LOW_SPEED_LIMIT, 1L);
  curl_easy_setopt(curl, CURLOPT_LOW_SPEED_TIME, r->stall_seconds);
  curl_easy_setopt(curl, CURLOPT_AWS_SIGV4, r->signature);
  curl_easy_setopt(curl, CURLOPT_USERPWD, r->credentials);
  curl_easy_setopt(curl, CURLOPT_HTTPHEADER, r->headers);
  curl_easy_setopt(curl, CURLOPT_WRITEFUNCTION, CCurl_keep);
  curl_easy_setopt(curl, CURLOPT_WRITEDATA, answer);
  if (r->body) {
    curl_easy_setopt(curl, CURLOPT_UPLOAD, 1L);
    curl_easy_setopt(curl, CURLOPT_READDATA, r->body);
    curl_easy_setopt(curl, CURLOPT_INFILESIZE_LARGE, r->body_bytes);
  } else {
    curl_easy_setopt(curl, CURLOPT_CUSTOMREQUEST, r->method);
  }
  *code = curl_easy_perform(curl);
  if (*code == CURLE_OK) curl_easy_getinfo(curl, CURLINFO_RESPONSE_CODE, &status);
  return status;
}
