internal import CaravanModel

/// What clients saw of one zone, held against what was promised: every record is linearizable (CK-22), and the zone is
/// serialisable, in the order of its seq and in that of real time (CK-23).
///
/// Every write has a version, and versions say in which order writes happened. So where Wing and Gong ("Testing and
/// verifying concurrent objects", 1993) must search for an order, there is one here and it only has to be checked:
/// n log n instead of exponential. What is searched for is the place of each read in it, and the smallest place that
/// fits is always the right one. Writes whose answer was lost are in the order once anybody has seen what they wrote.
///
///     ZoneHistory(calls).findings(isSerialisable: true)
///
/// Not told apart: zones of the same name after a deletion. A history is of one life of a zone, from its first write
/// on, and of clients that change nothing beyond what they say: no cascades, no expiry, no merges.
public struct ZoneHistory: Sendable {
  public enum Rule: String, Sendable, Hashable, CaseIterable {
    /// A version or value was seen that nobody wrote.
    case nobodyWrote
    /// One change took effect under two versions.
    case appliedTwice
    /// What was refused, or aborted, happened nevertheless.
    case refusedButApplied
    /// Two writes have the same version.
    case sharedVersion
    /// The versions of a commit do not follow one another, or do not end at the seq that it was answered with.
    case scatteredBatch
    /// A version lies between others and no call can have written it.
    case hole
    /// A write was accepted over another record than it was based on.
    case lostUpdate
    /// A conflict was reported where the base fits.
    case falseConflict
    /// A record is not linearizable: what was there before is not, or is seen too early.
    case recordOrder
    /// The zone is not serialisable in real time.
    case zoneOrder
    /// A batch read something else than the zone held at its place in the order.
    case wrongRead
  }

  public struct Finding: Sendable, Hashable, CustomStringConvertible {
    public let rule: Rule
    public let explanation: String
    public var description: String { "\(rule.rawValue): \(explanation)" }
  }

  let calls: [ZoneCall]

  public init(_ calls: [ZoneCall]) { self.calls = calls }

  /// - Parameter isSerialisable: false: records stand alone, as in a default zone (CK-10).
  /// - Returns: what is wrong; empty when the history is sound.
  public func findings(isSerialisable: Bool) -> [Finding] {
    var writes = ZoneWrites(calls)
    writes.addObservations()
    var findings = writes.findings + bases(writes) + records(writes)
    if isSerialisable { findings += zone(writes) + reads(writes) }
    return findings
  }

  // MARK: Bases

  /// Compare-and-set compared with what was there.
  private func bases(_ writes: ZoneWrites) -> [Finding] {
    calls.indices.flatMap { (index) -> [Finding] in
      let call = calls[index]
      var place = writes.start(of: index)
      return call.decided.compactMap { change, verdict in
        let before = writes.latest(change.name, at: place)
        defer { if let version = writes.version(of: change, verdict, by: index) { place = version } }
        let mayHide = writes.mayHide(change.name, from: call.returned)
        switch verdict {
        case .accepted, .read:
          guard !fits(change.base, before), !(change.base == .absent && mayHide) else { return nil }
          return Finding(
            rule: .lostUpdate, explanation: "\(change) was accepted over \(Self.text(before)): \(call)")
        case .conflict:
          guard fits(change.base, before), !mayHide else { return nil }
          return Finding(
            rule: .falseConflict, explanation: "\(change) was refused over \(Self.text(before)): \(call)")
        case .aborted, .refused: return nil
        }
      }
    }
  }

  private func fits(_ base: Base, _ before: ZoneWrites.Write?) -> Bool {
    switch base {
    case .any: true
    case .absent: before?.content ?? .tombstone == .tombstone
    case .version(let version): before?.version == version
    }
  }

  static func text(_ write: ZoneWrites.Write?) -> String {
    write.map { "\(ZoneCall.Observation($0.name, $0.version, $0.content))" } ?? "nothing"
  }

  // MARK: Records

  private func records(_ writes: ZoneWrites) -> [Finding] {
    writes.names.flatMap { name in
      RealTimeOrder(calls.indices.compactMap { recordSlot(name, of: $0, writes) }).problems.map { problem in
        Finding(rule: .recordOrder, explanation: "\(name): \(text(problem))")
      }
    }
  }

  private func recordSlot(_ name: String, of index: Int, _ writes: ZoneWrites) -> RealTimeOrder.Slot? {
    if let write = writes.write(to: name, by: index) {
      return RealTimeOrder.Slot(calls[index], index, from: write.version - 1, to: write.version)
    }
    guard let view = writes.view(of: name, by: calls[index]) else { return nil }
    return RealTimeOrder.Slot(calls[index], index) { writes.earliest(view, from: $0) }
  }

  // MARK: The zone

  private func zone(_ writes: ZoneWrites) -> [Finding] {
    RealTimeOrder(calls.indices.compactMap { zoneSlot(of: $0, writes) }).problems.map { problem in
      Finding(rule: .zoneOrder, explanation: text(problem))
    }
  }

  private func zoneSlot(of index: Int, _ writes: ZoneWrites) -> RealTimeOrder.Slot? {
    let call = calls[index]
    if let range = writes.range(of: index) { return RealTimeOrder.Slot(call, index, from: range.low, to: range.high) }
    switch call.answer {
    case .unknown, .failed: return nil
    case .committed(_, let seq):
      return RealTimeOrder.Slot(call, index) { $0 <= seq && writes.isBoundary(seq) ? seq : nil }
    case .fetched, .pulled:
      let views = writes.views(of: call)
      return RealTimeOrder.Slot(call, index) { writes.earliest(views, boundFor: call, from: $0) }
    }
  }

  /// What batches read is what the zone holds once they are done.
  private func reads(_ writes: ZoneWrites) -> [Finding] {
    calls.indices.flatMap { index -> [Finding] in
      let call = calls[index]
      guard case .committed(_, let seq) = call.answer, !call.isRetried else { return [] }
      return call.decided.compactMap { change, verdict in
        guard case .read(let observation) = verdict else { return nil }
        let held = writes.latest(change.name, at: seq).flatMap { $0.content == .tombstone ? nil : $0 }
        if held?.version == observation?.version { return nil }
        if observation == nil, writes.mayHide(change.name, from: call.returned) { return nil }
        return Finding(
          rule: .wrongRead,
          explanation:
            "\(Self.text(held)) was there at \(seq), \(observation?.description ?? "nothing") was read: \(call)")
      }
    }
  }

  private func text(_ problem: RealTimeOrder.Problem) -> String {
    let before = problem.before.map { ", and \(calls[$0]) was answered before it began" } ?? ""
    return "no place after \(problem.floor) is right for \(calls[problem.call])\(before)"
  }
}
