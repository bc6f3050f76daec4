internal import CaravanAgentCore
internal import CaravanAgentStore
internal import CaravanModel
internal import CaravanRuntime

// What is given up of rows that may be lost (MOB-05, MOB-06). How much may be is the store's to say, which counts.
extension SyncEngine {
  /// Begins to give up what no transfer has taken along for an interval.
  func discard(in group: inout DiscardingTaskGroup, at now: Moment) {
    for key in coalescer.takeDiscards(at: now) { group.addTask { await self.discard(key) } }
    if let next = coalescer.nextDiscard() { alarm.set(Instant(nanoseconds: next)) }
  }

  private func discard(_ key: Key) async {
    do throws(CaravanError) {
      coalescer.spent(key, rows: try await store.loseTolerated(of: key.table, to: .queue))
    } catch {
      host.log.warning("rows that may be lost could not be given up", [.table: key.table, .error: error.description])
    }
  }

  /// The cloud refused a push because it has too much to do: what may be lost of it is not offered again. The push
  /// cannot have been applied, so its plan is given up, and made anew without.
  func shed(_ table: TableID) async {
    let key = Key(table, .write)
    guard let held = tables[table].pending, !held.mayHaveArrived, held.plan.toleratedRows > 0, !sessions.isRunning(key),
      sessions.begin(key)
    else { return }
    do throws(CaravanError) {
      try await store.abort(held.plan.op)
      tables[table].pending = nil
      try await store.loseTolerated(of: table, to: .server)
    } catch {
      host.log.warning("a busy cloud is not relieved of rows that may be lost", [.table: table, .error: error])
    }
    if sessions.end(key) { putBack(key) }
  }
}

extension CaravanError {
  /// The cloud has too much to do. Who is told to come later has not met that, nor who asked too often.
  var isBusy: Bool { code == .serverBusy && !isDeferral }
}
