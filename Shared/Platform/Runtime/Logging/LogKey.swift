/// Every key of a log line beside `time`, `level` and `message`. The raw value is what people search for.
public enum LogKey: String, Sendable, Hashable, CaseIterable {
  // Who speaks.
  case service, instance, version, process, host
  // What it is about.
  case trace, span, request, subject, endpoint
  case user, device, app, container, database, zone, table, record, partition, store
  case session, subscription, notification, generation, op, seq, epoch, token, chunk, lease
  // Things of the machine.
  case file, path, address, port, signal, link, state
  // How it went.
  case error, code, reason, duration, count, zones, records, dropped, bytes, attempt, retryAfter, limit
}
