internal import CaravanAgentCore
internal import CaravanAgentStore
internal import CaravanModel

extension App {
  private struct Held: Sendable {
    let tag: ChangeTag
    let cells: [CellValue]
    /// Nil: a new row.
    let selection: Selection?
  }

  /// Changes a few rows, old and new ones, together (REC-23).
  mutating func batch(_ table: Scale.Table, _ place: Place, _ session: Session) async {
    var writes: [Held] = []
    var parents: Set<ChangeTag> = []
    for _ in 0..<dice.within(2...4) {
      if dice.happens(600), let (parent, old) = await chooseRow(place, session) {
        guard parents.insert(parent).inserted else { continue }
        writes.append(hold(table, place, over: parent, old))
      } else {
        writes.append(hold(table, place, over: nil, nil))
      }
    }
    let tags = writes.map(\.tag)
    // Of a table that stays on its device nothing goes to the cloud, nor does it go together once the table is synced.
    let isOwn = ground.recorder.share(of: device.name, place) == .own
    ground.recorder.saw("\(tags) are changed together") { if !isOwn { $0.batches.append(tags) } }
    let opened = await device.ask(session) { [held = writes] (session) throws(CaravanError) in
      try await Self.open(held, in: session.store, place)
    }
    guard case .done(let rows) = opened else { return conclude(tags, opened) { _ in false } }
    let handles = rows.map(\.handle)
    if dice.happens(300) { await rest(dice.milliseconds(1...2_000)) }
    let closed = await device.ask(session) { (session) throws(CaravanError) in
      try await session.store.closeWrites(handles, isAtomic: true, owner: Self.owner)
    }
    if case .refused = closed {
      _ = await device.ask(session) { (session) throws(CaravanError) in
        try await session.store.abandonWrites(handles, owner: Self.owner)
      }
    }
    conclude(tags, closed) { !rows[$0].rows.isEmpty }
  }

  private func conclude<Value>(
    _ tags: [ChangeTag], _ answer: SimulatedDevice.Answer<Value>, happened: (Int) -> Bool
  ) {
    for (index, tag) in tags.enumerated() { conclude(tag, answer) { _ in happened(index) } }
  }

  private mutating func hold(_ table: Scale.Table, _ place: Place, over parent: ChangeTag?, _ old: Content?) -> Held {
    let tag = ground.recorder.newTag(device.name)
    var content = fresh(table)
    if let old { (content.name, content.photo) = (old.name, old.photo) }
    let before = parent ?? (table.hasKey ? deletions["\(place)/\(content.name)"] : nil)
    begin(
      LocalWrite(
        tag, place, parent == nil ? .insert : .update, parents: before.map { [$0] } ?? [],
        digest: content.digest(tag), number: content.n), content)
    return Held(
      tag: tag, cells: content.cells(tag, named: parent == nil && table.hasKey), selection: parent.map(Self.row))
  }

  private static func open(
    _ writes: [Held], in store: LocalStore, _ place: Place
  ) async throws(CaravanError) -> [OpenedWrite] {
    var opened: [OpenedWrite] = []
    do throws(CaravanError) {
      for write in writes {
        opened.append(
          try await store.openWrite(
            place.id, cells: write.cells, objects: [], selection: write.selection, owner: owner, isHeld: true))
      }
    } catch {
      if !opened.isEmpty { try await store.abandonWrites(opened.map(\.handle), owner: owner) }
      throw error
    }
    return opened
  }
}
