#pragma once
#include <stdint.h>
#include <time.h>
#include <openssl/asn1.h>
#include <openssl/bio.h>
#include <openssl/crypto.h>
#include <openssl/ec.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>
#include <openssl/pem.h>
#include <openssl/rand.h>
#include <openssl/ssl.h>
#include <openssl/x509.h>
#include <openssl/x509v3.h>

/* EVP_EC_gen is a macro over a variadic function. */
static inline EVP_PKEY *COpenSSL_generate_p256(void) { return EVP_EC_gen("P-256"); }

/* SSL_set_tlsext_host_name is a macro. A name is for a certificate's names, a numeric address for its addresses. */
static inline int COpenSSL_expect_server(SSL *connection, const char *name) {
  if (X509_VERIFY_PARAM_set1_ip_asc(SSL_get0_param(connection), name) == 1) return 1;
  return SSL_set_tlsext_host_name(connection, name) == 1 && SSL_set1_host(connection, name) == 1;
}

/* Seconds since 1970; 0 for what is no time. */
static inline int64_t COpenSSL_unix_time(const ASN1_TIME *time) {
  struct tm parts;
  return ASN1_TIME_to_tm(time, &parts) == 1 ? (int64_t)timegm(&parts) : 0;
}
