internal import CaravanEncoding
internal import CaravanModel
internal import CaravanStorageClient
internal import CaravanStore
internal import CaravanWire

extension Recorder {
  /// What a commit means for notifications on their way to push targets.
  static func pushed(_ change: CommittedChange) -> [PushEvent] {
    let zone = change.log.zone
    guard let user = zone.database.owner?.text, !change.log.isDeletion else { return [] }
    switch (zone.database.container.text, zone.name) {
    case (Subscribers.container, NotificationLog.name):
      return change.entries.compactMap { entry in
        guard let what = told(entry), let fields = try? RecordFields(body: entry.body) else { return nil }
        let at = fields[NotificationLog.Field.at.rawValue].integerValue ?? 0
        return .logged(
          user: user,
          LoggedPush(
            what, at: RFC3339.text(milliseconds: at), seq: entry.version, life: change.log.incarnation))
      }
    case (ContainerID.system.text, PushTargets.zone): return change.entries.compactMap { kept($0, of: user) }
    case (ContainerID.system.text, PushTargets.stateZone): return change.entries.compactMap { standing($0, of: user) }
    default: return []
    }
  }

  private static func kept(_ entry: CaravanModel.Entry, of user: String) -> PushEvent? {
    guard let id = PushTargets.place(entry.name)?.id else { return nil }
    guard !entry.isDeleted else { return .removed(user: user, id: id) }
    guard let stored: StoredTarget = PushTargets.value(of: entry.body), let target = stored.target else { return nil }
    return .kept(
      KeptTarget(
        user, id, registration: Hex.encode(stored.registration), url: target.webPush?.url ?? target.webhook?.url ?? "",
        subscriptions: target.subscriptions,
        from: stored.from.map { KeptTarget.Position(life: $0.incarnation, seq: $0.seq) }, perMinute: stored.perMinute))
  }

  private static func standing(_ entry: CaravanModel.Entry, of user: String) -> PushEvent? {
    guard let id = PushTargets.place(entry.name)?.id, !entry.isDeleted,
      let stored: StoredTargetState = PushTargets.value(of: entry.body)
    else { return nil }
    let last = (stored.state?.last ?? []).map {
      TargetStanding.GivenUp(source: UInt64($0.source), number: $0.number, status: Int($0.status))
    }
    return .told(
      user: user, id: id,
      TargetStanding(
        registration: Hex.encode(stored.registration),
        position: stored.position.map { KeptTarget.Position(life: $0.incarnation, seq: $0.seq) },
        givenUp: Int(clamping: stored.state?.givenUp ?? 0), hasEnded: stored.state?.ended ?? false, last: last))
  }
}
