internal import CaravanAgentCore
internal import CaravanModel
internal import CaravanRuntime
internal import CaravanSQLite

/// Connections that read, as many as are used at once, and a few that wait to be used again.
final class ReaderPool: StorePart {
  let context: StoreContext
  private var idle: [Reader] = []

  init(_ context: StoreContext) { self.context = context }

  func giveBack(_ reader: Reader) {
    guard context.connection != nil, idle.count < StoreLimits.idleReaders else { return reader.close() }
    idle.append(reader)
  }

  func take() throws(CaravanError) -> Reader {
    if let reader = idle.popLast() { return reader }
    let reader = try Reader("\(context.directory)/agent.db", options, host.clock)
    reader.connection.whenDamaged = { [damage, directory = context.directory] in
      damage.noteDatabase(PageRecoveryFiles(directory: directory))
    }
    return reader
  }

  /// Statements know the tables they were prepared for.
  func forgetPrepared() {
    context.connection?.forgetTexts()
    close()
  }

  func close() {
    for reader in idle { reader.close() }
    idle = []
  }
}
