import CaravanClient

/// What the app remembers on this device alone.
struct Memory {
  private let table: Table

  init(_ client: CaravanClient) async throws {
    table = try await client.createTable("memory", "what VARCHAR PRIMARY KEY, text VARCHAR", isLocalOnly: true)
  }

  func recall(_ what: String) async throws -> String? {
    try await table.rows(.init("what = ?", [.text(what)])).all().first?["text"].textValue
  }

  func remember(_ what: String, _ text: String) async throws {
    if try await table.update(.init("what = ?", [.text(what)]), ["text": .text(text)]).isEmpty {
      try await table.write(["what": .text(what), "text": .text(text)])
    }
  }
}
