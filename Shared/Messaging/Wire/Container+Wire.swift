public import CaravanModel

extension ContainerSettings {
  public init(_ settings: CaravanModel.ContainerSettings) {
    self.init(publicShards: settings.publicShards, privateShards: settings.privateShards)
  }

  /// What is not said is as usual.
  public func model() -> CaravanModel.ContainerSettings {
    var settings = CaravanModel.ContainerSettings()
    if publicShards > 0 { settings.publicShards = publicShards }
    if privateShards > 0 { settings.privateShards = privateShards }
    return settings
  }
}

extension RegisteredContainer {
  public init(_ container: CaravanModel.RegisteredContainer) {
    self.init(
      id: container.id.text, name: container.name, owner: container.owner?.text ?? "",
      developers: container.developers.map(\.text), environments: container.environments.map(\.rawValue),
      membersOnly: container.isForMembers, invited: container.invited.map(\.text))
  }

  /// Environments that this release does not know are left out.
  /// - Throws: `invalidData` for an id that is none.
  public func model() throws(CaravanError) -> CaravanModel.RegisteredContainer {
    var users: [UserID] = []
    for developer in developers { users.append(try UserID(developer)) }
    var guests: [UserID] = []
    for guest in invited { guests.append(try UserID(guest)) }
    return CaravanModel.RegisteredContainer(
      id: try ContainerID(id), name: name, owner: owner.isEmpty ? nil : try UserID(owner), developers: users,
      environments: environments.compactMap { Environment(rawValue: $0) }, isForMembers: membersOnly, invited: guests)
  }
}
