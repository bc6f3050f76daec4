internal import CaravanAgentCore
internal import CaravanAgentStore
internal import CaravanModel
internal import CaravanRuntime

// What is given up of rows that may be lost (MOB-05, MOB-06). How much may be is the store's to say, which counts.
extension SyncEngine {
  /// Begins to give up what no transfer has taken along for an interval.
  func discard(in group: inout DiscardingTaskGroup, at now: Moment) {
    for table in schedule.takeDiscards(at: now) { group.addTask { await self.discard(table) } }
    if let next = schedule.nextDiscard { alarm.set(Instant(nanoseconds: next)) }
  }

  private func discard(_ table: TableID) async {
    do throws(CaravanError) {
      schedule.gaveUp(table, rowsLeft: try await store.loseTolerated(of: table, to: .queue))
    } catch {
      host.log.warning("rows that may be lost could not be given up", [.table: table, .error: error.description])
    }
  }

  /// The cloud refused a push because it has too much to do: what may be lost of it is not offered again.
  func shed(_ table: TableID) async {
    guard let op = schedule.beginShedding(of: table) else { return }
    do throws(CaravanError) {
      try await store.abort(op)
      schedule.pushLeft(nil, of: table)
      try await store.loseTolerated(of: table, to: .server)
    } catch {
      host.log.warning("a busy cloud is not relieved of rows that may be lost", [.table: table, .error: error])
    }
    endReservation(Key(table, .write))
  }
}

extension CaravanError {
  /// The cloud has too much to do. Who is told to come later has not met that, nor who asked too often.
  var isBusy: Bool { code == .serverBusy && !isDeferral }
}
