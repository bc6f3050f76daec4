internal import CaravanAgentCore
internal import CaravanAgentStore
internal import CaravanModel
internal import CaravanRuntime
internal import CaravanTestKit

extension App {
  func rest(_ duration: Duration) async { try? await device.part.machine.host.clock.sleep(for: duration) }

  // MARK: Reading

  mutating func read(_ place: Place, _ session: Session) async {
    let ownWrites = ground.recorder.ownWrites(device.name)
    // Whatever is written meanwhile, a read shows one moment.
    let pause: Duration = dice.happens(700) ? .zero : dice.milliseconds(1...2_000)
    let clock = device.part.machine.host.clock
    let share = ground.recorder.share(of: device.name, place) ?? .all
    // Which rows are on the first page, names say.
    let pageRows = secret == nil ? Self.pageRows : Self.allRows
    let answer = await device.ask(session) { (session) throws(CaravanError) in
      let torn = try await session.store.status(of: place.id.app).first { $0.table == place.id }?.torn ?? 0
      let rows = try await Self.rows(of: place, in: session.store, by: pageRows) { try? await clock.sleep(for: pause) }
      return (torn, rows)
    }
    guard case .done((let torn, let rows)) = answer else { return }
    ground.recorder.read(
      Reading(
        device: device.name, place: place, ownWrites: ownWrites, lacksTornRows: torn > 0, share: share,
        versions: ground.recorder.versionCount, rows: rows))
  }

  private static let pageRows = 6
  /// On one page.
  private static let allRows = 10_000

  /// The whole table, every byte, from one snapshot.
  static func rows(
    of place: Place, in store: LocalStore, by pageRows: Int = pageRows, betweenPages pause: () async -> Void = {}
  ) async throws(CaravanError) -> [SeenRow] {
    var page = try await store.beginRead(
      ReadRequest(table: place.id, pageRows: pageRows, isHeld: true), owner: owner)
    let cursor = page.cursor
    var seen: [SeenRow] = []
    do throws(CaravanError) {
      while true {
        for row in page.rows { seen.append(try await self.row(row, of: place, in: store, cursor: cursor)) }
        guard page.hasMore else { break }
        await pause()
        page = try await store.nextPage(cursor, owner: owner)
      }
    } catch {
      await store.closeCursor(cursor, owner: owner)
      throw error
    }
    await store.closeCursor(cursor, owner: owner)
    return seen
  }

  private static func row(
    _ view: RowView, of place: Place, in store: LocalStore, cursor: UInt64
  ) async throws(CaravanError) -> SeenRow {
    guard let (tag, cells) = Content.read(view.cells) else {
      throw CaravanError(.internalError, "row \(view.id) of \(place) has no tag")
    }
    var content = cells
    if let object = view.objects.first(where: { $0.column == "photo" }) {
      content.photo = try await bytes(of: view.id, object.size, place, in: store, cursor: cursor)
    }
    // Without a version it waits to be named after a reset.
    return SeenRow(
      view.id, seq: view.version, tag: tag, digest: content.digest(tag),
      isClean: view.state == .clean && view.version > 0)
  }

  private static func bytes(
    of row: String, _ size: UInt64, _ place: Place, in store: LocalStore, cursor: UInt64 = 0, copy: RowCopy = .mine
  ) async throws(CaravanError) -> [UInt8] {
    let slice = try await store.readObject(
      place.id, row: row, object: "photo", offset: 0, length: Int(size), cursor: cursor, copy: copy, owner: owner)
    return slice.bytes
  }

  // MARK: Conflicts

  /// Decides some or all of a table's conflicts.
  mutating func resolve(_ table: Scale.Table, _ place: Place, _ session: Session, all: Bool = false) async {
    let begun = await device.ask(session) { (session) throws(CaravanError) in
      try await session.store.beginResolution(place.id, owner: Self.owner)
      return try await session.store.conflicts(place.id)
    }
    guard case .done(let conflicts) = begun else { return }
    var decisions: [(index: Int, tag: ChangeTag?)] = []
    for conflict in secret == nil ? conflicts : Self.byChange(conflicts) where all || dice.happens(700) {
      if let decision = await decide(conflict, table, place, session) { decisions.append(decision) }
      if !all, dice.happens(200) { await rest(dice.milliseconds(1...4_000)) }
    }
    let ended = await device.ask(session) { (session) throws(CaravanError) in
      try await session.store.endResolution(place.id, owner: Self.owner)
    }
    for (index, tag) in decisions {
      if let tag { conclude(tag, ended) { _ in true } }
      switch ended {
      case .done: ground.recorder.conclude(decision: index, .acknowledged)
      case .refused: ground.recorder.conclude(decision: index, .refused)
      case .unknown: continue
      }
    }
  }

  /// Names do not say which comes first.
  private static func byChange(_ conflicts: [ConflictView]) -> [ConflictView] {
    conflicts.map { ($0, Content.read($0.mine.cells)?.tag) }
      .sorted { one, other in other.1.map { tag in one.1.map { $0 < tag } ?? true } ?? false }.map(\.0)
  }

  private mutating func decide(
    _ conflict: ConflictView, _ table: Scale.Table, _ place: Place, _ session: Session
  ) async -> (index: Int, tag: ChangeTag?)? {
    guard let (localTag, local) = Content.read(conflict.mine.cells) else { return nil }
    let row = conflict.mine.id
    let mine = conflict.isMineDeleted ? deletion(of: localTag) ?? localTag : localTag
    let theirs = conflict.theirs.flatMap { Content.read($0.cells) }
    var decision = Decision(
      RowKey(place, row), device: device.name, mine: mine, theirs: theirs?.tag, choice: .mine)
    if let theirs, let view = conflict.theirs { await look(at: view, theirs, place, session) }
    var tag: ChangeTag?
    var cells: [CellValue] = []
    var columns: [String] = []
    let kind = dice.below(3)
    if kind == 1 { decision.choice = .theirs }
    if kind == 2 {
      let new = ground.recorder.newTag(device.name)
      var content = contents[localTag] ?? local
      let number = Int64(dice.below(1_000))
      content.n = secret?.number(number) ?? number
      if table.hasObject, let theirs, dice.happens(500) {
        columns = ["photo"]
        content.photo = contents[theirs.tag]?.photo
      }
      contents.keep(content, of: new)
      cells = content.cells(new, named: false)
      tag = new
      decision.choice = .merge(new)
      ground.recorder.attempt(
        LocalWrite(
          new, place, .merge, parents: [mine] + (theirs.map { [$0.tag] } ?? []), digest: content.digest(new),
          number: content.n))
    }
    let index = ground.recorder.attempt(decision)
    let resolution: Resolution = [.mine, .theirs, .new][kind]
    let answer = await device.ask(session) { [cells, columns] (session) throws(CaravanError) in
      try await session.store.resolve(
        place.id, row: row, resolution, cells: cells, fromTheirs: columns, owner: Self.owner)
    }
    if case .refused = answer {
      ground.recorder.conclude(decision: index, .refused)
      if let tag { ground.recorder.conclude(tag, .refused) }
      return nil
    }
    return (index, tag)
  }

  /// The cloud's copy is whole, too.
  private func look(
    at view: RowView, _ theirs: (tag: ChangeTag, content: Content), _ place: Place, _ session: Session
  ) async {
    let answer = await device.ask(session) { (session) throws(CaravanError) in
      var content = theirs.content
      if let object = view.objects.first {
        content.photo = try await Self.bytes(of: view.id, object.size, place, in: session.store, copy: .theirs)
      }
      return SeenRow(
        view.id, seq: view.version, tag: theirs.tag, digest: content.digest(theirs.tag), isClean: false)
    }
    // Another resolution may have ended the conflict meanwhile; then there is nothing to look at.
    guard case .done(let row) = answer else { return }
    ground.recorder.read(Reading(device: device.name + Reading.ofConflicts, place: place, ownWrites: 0, rows: [row]))
  }

  /// The local deletion of the row as that change had left it.
  private func deletion(of tag: ChangeTag) -> ChangeTag? {
    ground.recorder.history.writes.values.filter {
      $0.kind == .delete && $0.parents == [tag] && $0.tag.device == device.name
    }.map(\.tag).max()
  }
}
