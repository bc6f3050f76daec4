internal import CaravanAgentStore
internal import CaravanAgentSync
internal import CaravanModel
internal import CaravanWire

// What the cloud tells an app of, and the table in which it arrives.
extension AppSession {
  func manage(_ request: ManageSubscriptions) async throws(CaravanError) -> AppReply.Kind {
    guard request.save == nil || request.remove.isEmpty else {
      throw CaravanError(.invalidData, "a subscription is made, or one is removed: ask for one after the other")
    }
    var question = SubscriptionsQuestion(app: app, isPublic: request.publicDatabase)
    if let query = request.save { question.change = .save(try query.model()) }
    if !request.remove.isEmpty { question.change = .remove(request.remove) }
    let all = try await sync.subscriptions(question)
    // Only now, so that what the cloud refuses leaves nothing behind; notifications of meanwhile are kept at the cloud.
    if request.save != nil { try await haveNotifications() }
    return .subscriptions(SubscriptionsReply(subscriptions: all.map { CaravanWire.StandingQuery($0) }))
  }

  func manage(_ request: PushTargetsRequest) async throws(CaravanError) -> AppReply.Kind {
    .pushTargets(try await sync.cloud().pushTargets(request, of: app))
  }

  /// Sees to it that the app has its table of notifications, and that it is pulled.
  func haveNotifications() async throws(CaravanError) {
    guard try await store.createNotificationLog(of: app) else { return }
    await sync.registrationsChanged(of: table(NotificationLog.name))
  }

  /// Refuses what would change the table of notifications: it is as the cloud has it, on all devices of the user.
  func checkKeepsNotifications(_ request: AppRequest.Kind) throws(CaravanError) {
    guard request.tableChanged == NotificationLog.name else { return }
    throw CaravanError(
      .invalidData,
      "table '\(NotificationLog.name)' holds the notifications of the app's subscriptions and is read only: read and "
        + "watch it, register how it is read, and unsubscribe from what is not to be told any more")
  }
}

extension AppRequest.Kind {
  /// The table whose rows, columns or properties it would change, or which it would have sent. A new kind of request is
  /// decided here, or does not compile.
  fileprivate var tableChanged: String? {
    switch self {
    case .createTable(let request): request.table
    case .updateTable(let request): request.table
    case .dropTable(let request): request.table
    case .beginWrite(let request): request.table
    case .deleteRows(let request): request.table
    case .beginResolution(let request): request.table
    case .resolveConflict(let request): request.table
    case .registerSync(let request): request.read ? nil : request.table
    case .changeRecords(let request): request.table
    // An open write of that table there is not.
    case .writeObject, .truncateObject, .closeWrite: nil
    case .endResolution, .conflictedRows, .beginRead, .nextPage, .closeCursor, .readObject, .unregisterSync, .syncNow,
      .resetTable, .watch, .taken, .listen, .beginLive, .nextLive, .endLive:
      nil
    case .hello, .status, .setLink, .setPolicy, .resetDevice, .listApps, .allowApp, .forgetApp, .queryCloud,
      .manageSubscriptions, .managePushTargets, .fetchRecords, .reserveNumbers, .openObjects:
      nil
    }
  }
}
