/// The chunks of an object that an open write has overwritten where they lie, by their index (SIM-53, the dirty-chunk
/// table). It lives in memory; a crash loses it, and then every chunk of the object is looked at (SIM-80).
public struct DirtyChunks: Sendable, Equatable {
  /// Where each begins on the disk.
  public private(set) var places: [Int: Int] = [:]
  /// Those that must stay as they are: others need them, or the cloud does not have them.
  private var kept: Set<Int> = []

  public init() {}

  public var isEmpty: Bool { places.isEmpty }
  public var indices: [Int] { places.keys.sorted() }

  /// What is known of a chunk; nil: it has to be asked for.
  public func place(of index: Int) -> Int?? {
    if let place = places[index] { return .some(place) }
    return kept.contains(index) ? .some(nil) : nil
  }

  /// - Parameter place: nil: it must stay.
  public mutating func note(_ index: Int, at place: Int?) {
    if let place { places[index] = place } else { kept.insert(index) }
  }
}
