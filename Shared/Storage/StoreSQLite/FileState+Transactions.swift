internal import CaravanChunkFiles
internal import CaravanModel
internal import CaravanSQLite

extension FileState {
  func begin() throws(CaravanError) {
    try db.begin(.write)
    mark = context.longChunks?.file.mark
    turnsBefore = context.turns
  }

  /// Chunks written in the transaction are on the disk before it is.
  func commit() throws(CaravanError) {
    try context.longChunks?.file.sync()
    try db.commit()
  }

  /// All transactions so far are durable.
  func settle() {
    context.longChunks?.file.settleFreed()
    context.longChunks?.file.releaseFreed()
  }

  /// Nothing of the transaction has happened, and nothing that was remembered is believed.
  func undo() {
    db.rollBack()
    if let mark { context.longChunks?.file.rewind(to: mark) }
    context.turns = turnsBefore
    forget()
    _ = log.takeChanges()
  }

  /// Runs one write under a savepoint.
  func perform<Result>(_ work: (FileState) throws(CaravanError) -> Result) throws(CaravanError) -> Result {
    let noted = log.changes.count
    let mark = context.longChunks?.file.mark
    let turns = context.turns
    do {
      return try db.savepoint { () throws(CaravanError) in try work(self) }
    } catch {
      log.forgetChanges(behind: noted)
      if let mark { context.longChunks?.file.rewind(to: mark) }
      context.turns = turns
      forget()
      throw error
    }
  }
}
