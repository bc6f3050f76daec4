internal import CaravanCLICore
internal import CaravanClient
internal import CaravanEncoding
internal import CaravanModel
internal import CaravanRuntime

/// `publish`, `fetch` and `unpublish`: records of the public database, by name.
enum AppRecordCommands {
  private static let base = Flag<Int?>(
    "base", "N", "the version that was read and must still be there; without it, there must be no such record")
  private static let deletedBase = Flag<Int?>(
    "base", "N", "the version that was read and must still be there; without it, whatever is there goes")
  private static let merge = Flag<Bool>("merge", "put the columns into whatever is there, or make the record")
  private static let remove = Flag<[String]>("remove", "A,B", "columns to remove from the record", default: [])
  private static let life = Flag<Seconds?>("ttl", "S", "the record ends so many seconds after this save")
  private static let end = Flag<String?>("expires", "DATE", "when the record ends, as a DATE or 'never'")
  private static let out = Flag<String?>("out", "DIR", "write the objects of the records there, as DIR/ID.COLUMN")
  private static let columns = Flag<[String]>("columns", "A,B", "columns to read; all without it", default: [])

  private static func operands(_ text: String, from least: Int) -> Command.Operands {
    .init(text, least...AppCommands.operandLimit)
  }

  static let tools = [
    AppSession.tool(
      "publish", "Saves a record in the database that all users of the app share.",
      operands("TABLE ID [COLUMN=VALUE|COLUMN=@FILE ...]", from: 2),
      details: """
        ID is the record's name. Columns that are not named stay as they are; objects come from files. Without a table
        of this name on this device, values that look like numbers are numbers: create the table first where they are
        texts.
        """ + "\n" + TypedText.help, flags: [base, merge, remove, life, end]
    ) { session in try await publish(session) },
    AppSession.tool(
      "fetch", "Reads records of the database that all users of the app share, by name.",
      operands("TABLE ID ...", from: 2), flags: [columns, out]
    ) { session in try await fetch(session) },
    AppSession.tool(
      "unpublish", "Deletes records of the database that all users of the app share.",
      operands("TABLE ID ...", from: 2), flags: [deletedBase]
    ) { session in try await unpublish(session) },
  ]

  private static func cloud(_ session: AppSession) -> CloudTable { session.table.cloud(.public) }

  // MARK: Saving

  private static func publish(_ session: AppSession) async throws {
    let content = try RowContent(
      Assignment.list(session.operands.dropFirst(2), schema: try await session.schema()))
    let version = session.options[base]
    guard !session.options[merge] || version == nil else {
      throw CaravanError(.invalidData, "--merge or --base: into whatever is there, or over one version?")
    }
    guard version.map({ $0 > 0 }) ?? true else {
      throw CaravanError(.invalidData, "--base: 1 or more; leave it out for a record that is not there")
    }
    var record = CloudRecord(session.operands[1], version: version.map(UInt64.init), content.cells)
    for column in session.options[remove] { record[column] = CaravanModel.Value.null }
    record.expiry = try expiry(session.options)
    let mode = session.options[merge] ? CloudSaveMode.changedKeys : .ifUnchanged
    let outcome =
      content.files.isEmpty
      ? try await cloud(session).save(record, mode: mode)
      : try await cloud(session).save(record, mode: mode, objects: content.objects) { try await content.fill($0) }
    try show([outcome], of: [record.id], session)
  }

  private static func expiry(_ options: Options) throws(CaravanError) -> CloudExpiry {
    switch (options[life], options[end]) {
    case (nil, nil): return .keep
    case (let seconds?, nil):
      guard seconds.duration > .zero else { throw CaravanError(.invalidData, "--ttl 0: give a time, or unpublish it") }
      return .after(seconds.duration)
    case (nil, "never"?): return .never
    case (nil, let text?):
      guard let milliseconds = DateText.milliseconds(text), milliseconds > 0 else {
        throw CaravanError(
          .invalidData, "--expires '\(text)': give 2026-11-27, 2026-11-27T10:00:00Z, Unix milliseconds, or never")
      }
      return .at(milliseconds: milliseconds)
    case (_?, _?): throw CaravanError(.invalidData, "--ttl or --expires: after a time, or at one?")
    }
  }

  // MARK: Reading

  private static func fetch(_ session: AppSession) async throws {
    let ids = Array(session.operands.dropFirst())
    let names = session.options[columns]
    let found = try await cloud(session).fetch(ids, columns: names)
    let schema = try await session.schema()
    let folder = try session.options[out].map { (path) throws(CaravanError) in try OutFolder(path) }
    var list = JSONList(session.terminal)
    var records: [CloudRecord] = []
    var failure: CaravanError?
    for (id, one) in zip(ids, found) {
      switch one {
      case .record(let record):
        records.append(record)
        let files = try await folder?.save(record, of: cloud(session)) ?? []
        if session.asJSON { list.add(record.json(files)) }
      case .missing: if session.asJSON { list.add(["id": .string(id), "missing": .bool(true)]) }
      case .failed(let error):
        failure = failure ?? error
        if session.asJSON { list.add(["id": .string(id), "error": .string(error.description)]) }
      }
    }
    if session.asJSON {
      list.finish()
    } else {
      let shown = names.isEmpty ? Set(records.flatMap(\.shownColumns)).sorted() : names
      var table = TextTable(["RECORD", "VERSION", "BY"] + shown)
      for record in records {
        table.add(
          [record.id, record.version.map { "\($0)" } ?? "", record.modified?.user ?? ""]
            + shown.map { record.shown($0, schema) })
      }
      session.terminal.say(table.isEmpty ? "nothing found" : table.text)
    }
    if let failure { throw failure }
  }

  // MARK: Deleting

  private static func unpublish(_ session: AppSession) async throws {
    let ids = Array(session.operands.dropFirst())
    guard let version = session.options[deletedBase] else {
      return try show(try await cloud(session).delete(ids), of: ids, session)
    }
    guard ids.count == 1, version > 0 else {
      throw CaravanError(.invalidData, "--base is of one record, and 1 or more: name that alone")
    }
    let changes = CloudChanges([.deleteIfUnchanged(CloudRecord(ids[0], version: UInt64(version)))])
    try show(try await cloud(session).commit(changes), of: ids, session)
  }

  // MARK: Outcomes

  /// Says what became of each, and ends with the first that did not succeed.
  private static func show(_ outcomes: [CloudOutcome], of ids: [String], _ session: AppSession) throws {
    var failure: CaravanError?
    for (id, outcome) in zip(ids, outcomes) {
      let line: String
      var value: JSON.Object = ["id": .string(id)]
      switch outcome {
      case .saved(let record):
        line = "saved '\(id)' as version \(record.version ?? 0)"
        (value["outcome"], value["record"]) = ("saved", record.json)
      case .merged(let record):
        line = "merged '\(id)': its type's policy decided" + (record?.version.map { ", version \($0)" } ?? "")
        (value["outcome"], value["record"]) = ("merged", record?.json ?? .null)
      case .deleted: (line, value["outcome"]) = ("deleted '\(id)'", "deleted")
      case .missing: (line, value["outcome"]) = ("'\(id)' is not there", "missing")
      case .conflict(let record):
        let error = conflict(id, record)
        (value["outcome"], value["record"]) = ("conflict", record?.json ?? .null)
        (line, failure) = ("", failure ?? error)
      case .refused(let error):
        (value["outcome"], value["error"]) = ("refused", .string(error.description))
        (line, failure) = ("", failure ?? error)
      }
      if session.asJSON {
        session.terminal.say(JSON.object(value).encoded())
      } else if !line.isEmpty {
        session.terminal.say(line)
      }
    }
    if let failure { throw failure }
  }

  private static func conflict(_ id: String, _ record: CloudRecord?) -> CaravanError {
    guard let version = record?.version else {
      return CaravanError(.serverRecordChanged, "record '\(id)' is not there any more: leave --base out to make it")
    }
    return CaravanError(
      .serverRecordChanged,
      "record '\(id)' is there as version \(version): fetch it, and give --base \(version) to change that, or --merge"
    )
  }
}

extension CloudRecord {
  fileprivate var shownColumns: [String] { Array(cells.keys) + Array(objects.keys) }

  fileprivate func shown(_ column: String, _ schema: SchemaText?) -> String {
    if let size = objects[column] { return Size.text(size) }
    return self[column].shown(of: schema?.columns.first { $0.name.lowercased() == column.lowercased() }?.kind)
  }

  fileprivate func json(_ files: [(column: String, path: String)]) -> JSON {
    guard !files.isEmpty, var object = json.objectValue else { return json }
    var paths = JSON.Object()
    for file in files { paths[file.column] = .string(file.path) }
    object["files"] = .object(paths)
    return .object(object)
  }

  fileprivate var json: JSON {
    var values = JSON.Object()
    for (column, value) in cells.sorted(by: { $0.key < $1.key }) { values[column] = value.json }
    var sizes = JSON.Object()
    for (column, size) in objects.sorted(by: { $0.key < $1.key }) { sizes[column] = .int(Int64(clamping: size)) }
    return [
      "id": .string(id), "version": version.map { .int(Int64(clamping: $0)) } ?? .null, "cells": .object(values),
      "objects": .object(sizes), "created": created?.json ?? .null, "modified": modified?.json ?? .null,
      "expires": expires.map { .int($0) } ?? .null,
    ]
  }
}
