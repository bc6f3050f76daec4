/// What is behind a page of changes.
public enum PageEnd: Sendable, Hashable {
  /// Another page, which is asked for.
  case more
  /// An older one, until the table has as many rows as it is to keep (UNI-15).
  case older
  /// Nobody has said: it came with a notification.
  case unknown
  /// Nothing: after a reset, rows that the cloud had and did not name are now known to be deleted.
  case last
}
