internal import CaravanAgentCore
internal import CaravanAgentNetwork
public import CaravanAgentStore
public import CaravanModel
internal import CaravanRuntime
public import CaravanWire

/// What apps ask of the cloud itself, over whatever link there is, about their database of the device's user or the
/// public one.
public protocol CloudControl: Sendable {
  /// - Throws: why there is no answer, or what the cloud refused; so do the others.
  func query(_ question: CloudQuestion) async throws(CaravanError) -> CloudPage
  /// Makes, removes or lists what the cloud tells an app of (CK-82, CK-83).
  /// - Returns: all that the user has in that database then.
  func subscriptions(
    _ question: SubscriptionsQuestion
  ) async throws(CaravanError) -> [CaravanModel.StandingQuery]
  /// Reads records of the public database by name, or parts of them (CK-24).
  /// - Returns: what there is of the first ids: at least of one.
  func fetch(_ question: RecordsQuestion) async throws(CaravanError) -> [FoundCloudRecord]
  /// Changes records of the public database, each by itself (CK-25). The same edits may be asked for again.
  /// - Returns: what became of the first edits: at least of one.
  func change(_ changes: RecordChanges) async throws(CaravanError) -> [RecordOutcome]
  /// Reads a part of an object of a record of the public database (CK-24).
  /// - Throws: `noSuchObject` where there is no such record or object, or none that the user may see;
  ///   `serverRecordChanged` where the record has another version than the one asked for.
  func read(_ question: CloudObjectQuestion) async throws(CaravanError) -> ObjectSlice
  /// Saves, removes or lists where an app's notifications are pushed to (CK-85).
  func pushTargets(_ request: PushTargetsRequest, of app: ContainerID) async throws(CaravanError) -> PushTargetsReply
}

extension SyncControl {
  /// The cloud itself, over whatever link there is.
  /// - Throws: `networkNotConnected` or `networkNotPermitted`.
  public func cloud() async throws(CaravanError) -> any CloudControl { try await cloud(asReadOf: nil) }

  public func query(_ question: CloudQuestion) async throws(CaravanError) -> CloudPage {
    try await cloud(asReadOf: question.readOf).query(question)
  }

  public func subscriptions(
    _ question: SubscriptionsQuestion
  ) async throws(CaravanError) -> [CaravanModel.StandingQuery] {
    try await cloud().subscriptions(question)
  }
}

extension CaravanError {
  /// What an app is told that has asked the cloud itself: nothing of it is kept here.
  var asAnswerToQuestion: CaravanError {
    guard self == .notConnected else { return self }
    return CaravanError(
      .networkNotConnected, "not connected to the cloud, so it was not asked: ask again when the connection is back")
  }
}

/// The cloud over the device's connection.
struct CloudCalls: CloudControl {
  let dependencies: SyncDependencies
  let device: EnrolledDevice

  private var exchanger: Exchanger { dependencies.exchanger }
  private var records: CloudRecords { CloudRecords(dependencies) }

  func query(_ question: CloudQuestion) async throws(CaravanError) -> CloudPage {
    try await CloudQueries(exchanger: exchanger, device: device).ask(question)
  }

  func subscriptions(
    _ question: SubscriptionsQuestion
  ) async throws(CaravanError) -> [CaravanModel.StandingQuery] {
    try await CloudSubscriptions(exchanger: exchanger).ask(question)
  }

  func fetch(_ question: RecordsQuestion) async throws(CaravanError) -> [FoundCloudRecord] {
    try await records.fetch(question)
  }

  func change(_ changes: RecordChanges) async throws(CaravanError) -> [RecordOutcome] {
    try await records.change(changes)
  }

  func read(_ question: CloudObjectQuestion) async throws(CaravanError) -> ObjectSlice {
    try await CloudObjectReads(records: records, mover: dependencies.mover, known: dependencies.cloudObjects)
      .read(question)
  }

  func pushTargets(
    _ request: PushTargetsRequest, of app: ContainerID
  ) async throws(CaravanError) -> PushTargetsReply {
    let ask = AskPushTargets(container: app.text, request: request.encoded())
    let result = try await exchanger.exchange([.pushTargets(ask)], through: [])[0]
    guard case .pushTargets(let found) = result else { throw .unexpected(result, to: "push targets") }
    return try PushTargetsReply.decode(found.answer)
  }
}
