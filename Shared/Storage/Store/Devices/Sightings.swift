public import CaravanModel

/// A device has asked for a zone's changes, and so shown how far it has come (MOB-50).
public struct Sighting: Sendable, Hashable {
  public var partition: Partition
  public var zone: Incarnation
  public var device: String
  /// It lacks no tombstone up to here.
  public var seen: Seq
  /// The snapshot it reads; 0: none.
  public var target: Seq
  /// Unix time in milliseconds, or what a store counts that turns it into that.
  public var time: Int64

  public init(partition: Partition, zone: Incarnation, device: String, seen: Seq, target: Seq, time: Int64) {
    self.partition = partition
    self.zone = zone
    self.device = device
    self.seen = seen
    self.target = target
    self.time = time
  }
}

/// Sightings on their way to the disk: pulls note them in memory, maintenance writes them now and then, so that no pull
/// waits for an fsync. Soft state (MOB-53): one that is lost comes again with the device's next pull, and until then
/// makes a purge wait, or at worst a reset.
public struct Sightings: Sendable {
  private struct Key: Hashable {
    var partition: Partition
    var zone: Incarnation
    var device: String
  }

  private var waiting: [Key: (seen: Seq, target: Seq, time: Int64)] = [:]

  public init() {}

  public var count: Int { waiting.count }

  /// The answer to a device's question shows where it is: at the position it asked from, or at the beginning.
  public mutating func note(_ query: ChangeQuery, answered page: ChangePage, at time: Int64) {
    guard !page.resetRequired, let reader = query.reader, let next = page.next, next.incarnation != 0 else { return }
    let seen = query.continues ? query.position?.covered : nil
    let key = Key(
      partition: Partition(of: query.zone.database), zone: next.incarnation, device: reader.writer)
    if waiting.count >= StoreLimits.sightingsWaiting, waiting[key] == nil { return }
    waiting[key] = (seen ?? next.covered, next.target, time)
  }

  /// Those that could not be written wait again, unless the device has been seen since.
  public mutating func putBack(_ sightings: [Sighting]) {
    for sighting in sightings where waiting.count < StoreLimits.sightingsWaiting {
      let key = Key(partition: sighting.partition, zone: sighting.zone, device: sighting.device)
      if waiting[key] == nil { waiting[key] = (sighting.seen, sighting.target, sighting.time) }
    }
  }

  /// - Returns: some that have not been taken, at most `count`.
  public mutating func take(atMost count: Int) -> [Sighting] {
    let keys = Array(waiting.keys.prefix(count))
    return keys.compactMap { key in
      waiting.removeValue(forKey: key).map {
        Sighting(
          partition: key.partition, zone: key.zone, device: key.device, seen: $0.seen, target: $0.target,
          time: $0.time)
      }
    }
  }
}
