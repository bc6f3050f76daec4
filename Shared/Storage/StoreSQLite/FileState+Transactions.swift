internal import CaravanChunkFiles
internal import CaravanModel
internal import CaravanSQLite

extension FileState {
  func begin() throws(CaravanError) {
    try db.begin(.write)
    mark = longChunks?.file.mark
    turnsBefore = turns
  }

  /// Chunks written in the transaction are on the disk before it is.
  func commit() throws(CaravanError) {
    try longChunks?.file.sync()
    try db.commit()
  }

  /// All transactions so far are durable.
  func settle() {
    longChunks?.file.settleFreed()
    longChunks?.file.releaseFreed()
  }

  /// Nothing of the transaction has happened, and nothing that was remembered is believed.
  func undo() {
    db.rollBack()
    if let mark { longChunks?.file.rewind(to: mark) }
    turns = turnsBefore
    forget()
    _ = takeChanges()
  }

  /// Runs one write under a savepoint.
  func perform<Result>(_ work: (FileState) throws(CaravanError) -> Result) throws(CaravanError) -> Result {
    let noted = changes.count
    let mark = longChunks?.file.mark
    let turns = turns
    do {
      return try db.savepoint { () throws(CaravanError) in try work(self) }
    } catch {
      changes.removeSubrange(noted...)
      if let mark { longChunks?.file.rewind(to: mark) }
      self.turns = turns
      forget()
      throw error
    }
  }
}
