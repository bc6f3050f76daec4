public import CaravanModel

/// A way to the object store, for one object at a time. An actor with a thread of its own: its calls block.
///
///     try await lane.begin()
///     for chunk in chunks { try await lane.append(chunk) }
///     try await lane.put(at: path)
///
/// Each throws `limitExceeded` or `invalidData` for what the object store will never take; anything else may pass.
public protocol ObjectLane: Actor {
  /// Forgets what was begun before.
  func begin() throws(CaravanError)
  func append(_ bytes: [UInt8]) throws(CaravanError)
  /// Puts what was appended in the place of what is there: whole or not at all, and durable on return.
  func put(at path: String) throws(CaravanError)
  /// Nothing there is as good.
  func remove(_ path: String) throws(CaravanError)
}
