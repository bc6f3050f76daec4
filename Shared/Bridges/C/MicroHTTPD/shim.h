#pragma once
#include <gnutls/abstract.h>
#include <gnutls/gnutls.h>
#include <microhttpd.h>
#include <stdlib.h>
#include <string.h>

// Swift calls no variadic function, so the options of a daemon and the questions about a connection come through here.

struct CMicroHTTPD_Settings {
  int listenSocket;
  unsigned int maximumConnections;
  unsigned int idleTimeoutSeconds;
  size_t connectionMemory;
};

/// GnuTLS asks it for the certificate of each handshake.
typedef gnutls_certificate_retrieve_function3 *CMicroHTTPD_Retrieve;

struct CMicroHTTPD_Callbacks {
  void *context;
  /// The request line has come: returns the request's own context.
  void *(*begin)(void *context, const char *target, struct MHD_Connection *connection);
  MHD_AccessHandlerCallback access;
  MHD_RequestCompletedCallback completed;
  /// Whether somebody at an address may connect.
  MHD_AcceptPolicyCallback accept;
  /// A connection has begun, or is about to be closed.
  MHD_NotifyConnectionCallback connection;
  /// Null: the daemon speaks no TLS.
  CMicroHTTPD_Retrieve certificate;
};

/// One thread of the daemon's own serves all connections. Null if it cannot be started.
///
/// It polls, level-triggered. MHD's epoll is edge-triggered, and 0.9.75 takes a short read for the end of what there is
/// (recv_param_adapter): an end of stream that came with the last bytes goes unseen until the idle timeout.
static inline struct MHD_Daemon *CMicroHTTPD_start(struct CMicroHTTPD_Settings settings,
                                                   struct CMicroHTTPD_Callbacks callbacks) {
  unsigned int flags = MHD_USE_POLL_INTERNAL_THREAD | MHD_ALLOW_SUSPEND_RESUME;
  // An option that ends the list where there is no TLS.
  enum MHD_OPTION tls = callbacks.certificate ? MHD_OPTION_HTTPS_CERT_CALLBACK2 : MHD_OPTION_END;
  if (callbacks.certificate) flags |= MHD_USE_TLS;
  return MHD_start_daemon(flags, 0, callbacks.accept, callbacks.context, callbacks.access, callbacks.context,
                          MHD_OPTION_LISTEN_SOCKET, settings.listenSocket, MHD_OPTION_CONNECTION_LIMIT,
                          settings.maximumConnections, MHD_OPTION_CONNECTION_TIMEOUT, settings.idleTimeoutSeconds,
                          MHD_OPTION_CONNECTION_MEMORY_LIMIT, settings.connectionMemory, MHD_OPTION_STRICT_FOR_CLIENT,
                          1, MHD_OPTION_URI_LOG_CALLBACK, callbacks.begin, callbacks.context,
                          MHD_OPTION_NOTIFY_COMPLETED, callbacks.completed, callbacks.context,
                          MHD_OPTION_NOTIFY_CONNECTION, callbacks.connection, callbacks.context, tls,
                          callbacks.certificate, MHD_OPTION_HTTPS_PRIORITIES, "NORMAL:-VERS-ALL:+VERS-TLS1.3:+VERS-TLS1.2",
                          MHD_OPTION_END);
}

/// Who is at the other end; null if that is unknown.
static inline const struct sockaddr *CMicroHTTPD_peer(struct MHD_Connection *connection) {
  const union MHD_ConnectionInfo *info = MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CLIENT_ADDRESS);
  return info == NULL ? NULL : info->client_addr;
}

/// The connection's socket, which MHD closes; -1 if that is unknown.
static inline int CMicroHTTPD_socket(struct MHD_Connection *connection) {
  const union MHD_ConnectionInfo *info = MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CONNECTION_FD);
  return info == NULL ? -1 : info->connect_fd;
}

/// What the callback of a new connection has set for it.
static inline void *CMicroHTTPD_context(struct MHD_Connection *connection) {
  const union MHD_ConnectionInfo *info = MHD_get_connection_info(connection, MHD_CONNECTION_INFO_SOCKET_CONTEXT);
  return info == NULL ? NULL : info->socket_context;
}

/// The same for a handshake: MHD sets the connection as its session's pointer.
static inline void *CMicroHTTPD_session_context(gnutls_session_t session) {
  struct MHD_Connection *connection = (struct MHD_Connection *)gnutls_session_get_ptr(session);
  return connection == NULL ? NULL : CMicroHTTPD_context(connection);
}

#define CMICROHTTPD_CHAIN 8

/// A server's certificate, with those that lead to its authority, and its key.
struct CMicroHTTPD_Pair {
  gnutls_pcert_st chain[CMICROHTTPD_CHAIN];
  unsigned int length;
  gnutls_privkey_t key;
};

static inline void CMicroHTTPD_free_pair(struct CMicroHTTPD_Pair *pair) {
  for (unsigned int i = 0; i < pair->length; i++) gnutls_pcert_deinit(&pair->chain[i]);
  if (pair->key) gnutls_privkey_deinit(pair->key);
  free(pair);
}

/// Whether the key is that of the certificate.
static inline int CMicroHTTPD_fits(struct CMicroHTTPD_Pair *pair) {
  unsigned char of_key[64], of_certificate[64];
  size_t key_size = sizeof of_key, certificate_size = sizeof of_certificate;
  gnutls_pubkey_t public_key;
  if (gnutls_pubkey_init(&public_key) < 0) return 0;
  int fits = gnutls_pubkey_import_privkey(public_key, pair->key, 0, 0) >= 0 &&
             gnutls_pubkey_get_key_id(public_key, GNUTLS_KEYID_USE_SHA256, of_key, &key_size) >= 0 &&
             gnutls_pubkey_get_key_id(pair->chain[0].pubkey, GNUTLS_KEYID_USE_SHA256, of_certificate,
                                      &certificate_size) >= 0 &&
             key_size == certificate_size && memcmp(of_key, of_certificate, key_size) == 0;
  gnutls_pubkey_deinit(public_key);
  return fits;
}

/// Reads PEM. Null, and why in `*problem`, when it is none or the two do not belong together.
static inline struct CMicroHTTPD_Pair *CMicroHTTPD_read_pair(const char *certificate, size_t certificate_size,
                                                             const char *key, size_t key_size, const char **problem) {
  struct CMicroHTTPD_Pair *pair = (struct CMicroHTTPD_Pair *)calloc(1, sizeof *pair);
  if (!pair) {
    *problem = "there is no memory";
    return NULL;
  }
  gnutls_datum_t text = {(unsigned char *)certificate, (unsigned int)certificate_size};
  unsigned int length = CMICROHTTPD_CHAIN;
  int status = gnutls_pcert_list_import_x509_raw(pair->chain, &length, &text, GNUTLS_X509_FMT_PEM, 0);
  if (status >= 0) {
    pair->length = length;
    status = gnutls_privkey_init(&pair->key);
  }
  if (status >= 0) {
    text.data = (unsigned char *)key;
    text.size = (unsigned int)key_size;
    status = gnutls_privkey_import_x509_raw(pair->key, &text, GNUTLS_X509_FMT_PEM, NULL, 0);
  }
  if (status >= 0 && length > 0 && CMicroHTTPD_fits(pair)) return pair;
  *problem = status < 0 ? gnutls_strerror(status) : "the key is not that of the certificate";
  CMicroHTTPD_free_pair(pair);
  return NULL;
}
