#pragma once
#include <microhttpd.h>

// Swift calls no variadic function, so the options of a daemon and the questions about a connection come through here.

struct CMicroHTTPD_Settings {
  int listenSocket;
  unsigned int maximumConnections;
  unsigned int idleTimeoutSeconds;
  size_t connectionMemory;
};

struct CMicroHTTPD_Callbacks {
  void *context;
  /// The request line has come: returns the request's own context.
  void *(*begin)(void *context, const char *target, struct MHD_Connection *connection);
  MHD_AccessHandlerCallback access;
  MHD_RequestCompletedCallback completed;
};

/// One thread of the daemon's own serves all connections. Null if it cannot be started.
///
/// It polls, level-triggered. MHD's epoll is edge-triggered, and 0.9.75 takes a short read for the end of what there is
/// (recv_param_adapter): an end of stream that came with the last bytes goes unseen until the idle timeout.
static inline struct MHD_Daemon *CMicroHTTPD_start(struct CMicroHTTPD_Settings settings,
                                                   struct CMicroHTTPD_Callbacks callbacks) {
  return MHD_start_daemon(MHD_USE_POLL_INTERNAL_THREAD | MHD_ALLOW_SUSPEND_RESUME, 0, NULL, NULL, callbacks.access,
                          callbacks.context, MHD_OPTION_LISTEN_SOCKET, settings.listenSocket,
                          MHD_OPTION_CONNECTION_LIMIT, settings.maximumConnections, MHD_OPTION_CONNECTION_TIMEOUT,
                          settings.idleTimeoutSeconds, MHD_OPTION_CONNECTION_MEMORY_LIMIT, settings.connectionMemory,
                          MHD_OPTION_STRICT_FOR_CLIENT, 1, MHD_OPTION_URI_LOG_CALLBACK, callbacks.begin,
                          callbacks.context, MHD_OPTION_NOTIFY_COMPLETED, callbacks.completed, callbacks.context,
                          MHD_OPTION_END);
}

/// Who is at the other end; null if that is unknown.
static inline const struct sockaddr *CMicroHTTPD_peer(struct MHD_Connection *connection) {
  const union MHD_ConnectionInfo *info = MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CLIENT_ADDRESS);
  return info == NULL ? NULL : info->client_addr;
}
