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

extension Reader {
  /// - Parameter others: that come before them.
  static func bind(_ arguments: [Value], to statement: Statement, after others: Int = 0) throws(CaravanError) {
    for (index, argument) in arguments.enumerated() {
      let value: SQLValue =
        switch argument {
        case .null: .null
        case .text(let text): .text(text)
        case .integer(let number): .integer(number)
        case .real(let number): .real(number)
        case .data(let bytes): .blob(bytes)
        // As the column shows it to SQL.
        case .reference(let reference): .text(reference.target)
        case .asset, .assetList, .location, .list:
          throw CaravanError(
            .invalidData,
            "argument \(index + 1) is \(argument.kindName): only texts, numbers, bytes and references can be compared")
        }
      try value.bind(to: statement, at: Int32(others + index) + 1)
    }
  }
}
