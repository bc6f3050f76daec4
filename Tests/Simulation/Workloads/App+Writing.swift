internal import CaravanAgentCore
internal import CaravanAgentStore
internal import CaravanModel
internal import CaravanRuntime

extension App {
  mutating func fresh(_ table: Scale.Table) -> Content {
    var content = Content()
    if table.hasKey { content.name = "k\(dice.below(12))" }
    content.n = Int64(dice.below(1_000))
    content.note = String(repeating: dice.pick(["a", "bc", "def"]), count: dice.below(12))
    // More than such a link bears, and nothing that could be packed to much less.
    if hasFlakyLinks, shareDice.happens(50) {
      content.note = String(
        decoding: shareDice.bytes(shareDice.within(2_000...25_000)).map { 0x20 + $0 % 95 }, as: UTF8.self)
    }
    return secret.map { content.hidden(by: $0) } ?? content
  }

  private mutating func object() -> [UInt8] {
    if hasLargeChunks, shareDice.happens(100) { return hidden(shareDice.bytes(shareDice.within(8_000...50_000))) }
    return hidden(dice.bytes(dice.happens(150) ? dice.below(40) : dice.within(200...6_000)))
  }

  private func hidden(_ bytes: [UInt8]) -> [UInt8] { secret?.bytes(bytes) ?? bytes }

  func begin(_ write: LocalWrite, _ content: Content?) {
    if let content { contents.keep(content, of: write.tag) }
    ground.recorder.attempt(write)
  }

  // MARK: Insert

  mutating func insert(_ table: Scale.Table, _ place: Place, _ session: Session) async {
    let tag = ground.recorder.newTag(device.name)
    var content = fresh(table)
    if table.hasObject, dice.happens(700) { content.photo = object() }
    // A key that was deleted here may come back to life; otherwise the row is new.
    let parents = table.hasKey ? deletions["\(place)/\(content.name)"].map { [$0] } ?? [] : []
    begin(LocalWrite(tag, place, .insert, parents: parents, digest: content.digest(tag), number: content.n), content)
    let cells = content.cells(tag, named: table.hasKey)
    guard let photo = content.photo else {
      let answer = await device.ask(session) { (session) throws(CaravanError) in
        try await session.store.write(place.id, cells: cells)
      }
      return conclude(tag, answer) { !$0.isEmpty }
    }
    await writeObject(tag, place, session, cells: cells, selection: nil, edits: [.write(0, photo)])
  }

  // MARK: Update

  mutating func update(_ table: Scale.Table, _ place: Place, _ session: Session) async {
    guard let (parent, old) = await chooseRow(place, session) else { return }
    let tag = ground.recorder.newTag(device.name)
    var content = fresh(table)
    (content.name, content.photo) = (old.name, old.photo)
    begin(LocalWrite(tag, place, .update, parents: [parent], digest: content.digest(tag), number: content.n), content)
    let cells = content.cells(tag, named: false)
    let answer = await device.ask(session) { (session) throws(CaravanError) in
      try await session.store.write(place.id, cells: cells, selection: Self.row(parent))
    }
    conclude(tag, answer) { !$0.isEmpty }
  }

  /// The row as that change left it: an update applies to what was read, or to nothing.
  static func row(_ tag: ChangeTag) -> Selection { Selection("tag = ?", [.text("\(tag)")]) }

  /// A row of the table, as the app sees it now.
  mutating func chooseRow(_ place: Place, _ session: Session) async -> (ChangeTag, Content)? {
    let answer = await device.ask(session) { (session) throws(CaravanError) in
      try await session.store.beginRead(ReadRequest(table: place.id, columns: ["tag"]), owner: Self.owner).rows
    }
    guard case .done(let rows) = answer, !rows.isEmpty else { return nil }
    // Which of them it is must not be for the names to say where those are others in another run.
    let tags = rows.map { Content.read($0.cells)?.tag }
    let sorted = secret == nil ? tags : tags.compactMap(\.self).sorted()
    guard let tag = dice.pick(sorted), let content = contents[tag] else { return nil }
    return (tag, content)
  }

  mutating func editObject(_ table: Scale.Table, _ place: Place, _ session: Session) async {
    guard let (parent, old) = await chooseRow(place, session) else { return }
    let tag = ground.recorder.newTag(device.name)
    var content = fresh(table)
    content.name = old.name
    let edits = randomEdits(of: old.photo ?? [])
    content.photo = edits.reduce(old.photo ?? []) { $1.applied(to: $0) }
    begin(LocalWrite(tag, place, .update, parents: [parent], digest: content.digest(tag), number: content.n), content)
    if mode == .inPlace { ground.recorder.overwrites(parent) }
    await writeObject(
      tag, place, session, cells: content.cells(tag, named: false), selection: Self.row(parent), edits: edits)
  }

  private mutating func randomEdits(of photo: [UInt8]) -> [ObjectEdit] {
    (0..<dice.within(1...3)).map { _ in
      switch dice.below(4) {
      case 0: return .write(photo.count, hidden(dice.bytes(dice.within(1...800))))
      case 1: return .truncate(dice.below(photo.count + 1))
      default: return .write(dice.below(photo.count + 1), hidden(dice.bytes(dice.within(1...60))))
      }
    }
  }

  // MARK: Objects

  private mutating func writeObject(
    _ tag: ChangeTag, _ place: Place, _ session: Session, cells: [CellValue], selection: Selection?, edits: [ObjectEdit]
  ) async {
    let opened = await device.ask(session) { (session) throws(CaravanError) in
      try await session.store.openWrite(
        place.id, cells: cells, objects: ["photo"], selection: selection, owner: Self.owner)
    }
    guard case .done(let write) = opened else { return conclude(tag, opened) { _ in false } }
    for edit in edits {
      if dice.happens(300) { await rest(dice.milliseconds(1...3_000)) }
      let answer = await device.ask(session) { (session) throws(CaravanError) in
        for row in write.rows.indices { try await edit.perform(on: session.store, write.handle, row: row) }
      }
      guard case .done = answer else { return await abandon(write.handle, tag, session) }
    }
    if dice.happens(50) || write.rows.isEmpty { return await abandon(write.handle, tag, session) }
    let closed = await device.ask(session) { (session) throws(CaravanError) in
      try await session.store.closeWrite(write.handle, owner: Self.owner)
    }
    guard case .refused = closed else { return conclude(tag, closed) { !$0.isEmpty } }
    await abandon(write.handle, tag, session)
  }

  /// Nothing of an open write was ever visible, whether the agent still hears of the end of it or not.
  private func abandon(_ handle: UInt64, _ tag: ChangeTag, _ session: Session) async {
    _ = await device.ask(session) { (session) throws(CaravanError) in
      try await session.store.abandonWrite(handle, owner: Self.owner)
    }
    ground.recorder.conclude(tag, .refused)
  }

  // MARK: Delete

  mutating func delete(_ place: Place, _ session: Session) async {
    guard let (parent, old) = await chooseRow(place, session) else { return }
    let tag = ground.recorder.newTag(device.name)
    begin(LocalWrite(tag, place, .delete, parents: [parent]), nil)
    if !old.name.isEmpty { deletions["\(place)/\(old.name)"] = tag }
    let answer = await device.ask(session) { (session) throws(CaravanError) in
      try await session.store.delete(place.id, selection: Self.row(parent))
    }
    conclude(tag, answer) { $0 > 0 }
  }
}

/// One call of an object stream.
enum ObjectEdit: Sendable {
  case write(Int, [UInt8])
  case truncate(Int)

  func applied(to bytes: [UInt8]) -> [UInt8] {
    var bytes = bytes
    switch self {
    case .write(let offset, let new):
      if bytes.count < offset + new.count {
        bytes += [UInt8](repeating: 0, count: offset + new.count - bytes.count)
      }
      bytes.replaceSubrange(offset..<(offset + new.count), with: new)
    case .truncate(let size):
      if size < bytes.count {
        bytes.removeLast(bytes.count - size)
      } else {
        bytes += [UInt8](repeating: 0, count: size - bytes.count)
      }
    }
    return bytes
  }

  func perform(on store: LocalStore, _ handle: UInt64, row: Int) async throws(CaravanError) {
    switch self {
    case .write(let offset, let bytes):
      try await store.writeObject(
        handle, row: row, object: "photo", offset: UInt64(offset), bytes: bytes, owner: App.owner)
    case .truncate(let size):
      try await store.truncateObject(handle, row: row, object: "photo", size: UInt64(size), owner: App.owner)
    }
  }
}
