public import CaravanModel

extension Quota {
  public init(_ quota: CaravanModel.Quota) { self.init(maxRecords: quota.records, maxBytes: quota.bytes) }

  public func model() -> CaravanModel.Quota { CaravanModel.Quota(records: maxRecords, bytes: maxBytes) }
}

extension QuotaRequest {
  /// - Throws: `invalidData` unless it names exactly one account.
  public func account() throws(CaravanError) -> Account {
    guard let environment = self.environment.isEmpty ? .development : Environment(rawValue: self.environment) else {
      throw CaravanError(
        .invalidData, "there is no environment '\(self.environment.prefix(40))': say development or production")
    }
    switch (user.isEmpty, container.isEmpty) {
    case (false, true): return .user(try UserID(user), environment)
    case (true, false): return .container(try ContainerID(container), environment)
    case (true, true), (false, false):
      throw CaravanError(.invalidData, "a quota is of a user or of a container: name one of them")
    }
  }
}

extension QuotaReply {
  public init(_ state: AccountState) {
    self.init(
      records: UInt64(max(0, state.used.records)), bytes: UInt64(max(0, state.used.bytes)),
      quota: Quota(state.quota), isDefault: state.isDefault)
  }

  public func model(of account: Account) -> AccountState {
    AccountState(
      account: account, used: Usage(records: Int64(clamping: records), bytes: Int64(clamping: bytes)),
      quota: quota?.model() ?? .unlimited, isDefault: isDefault)
  }
}
