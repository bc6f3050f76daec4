package import CaravanModel

/// Who asks for something of a container.
package enum Asker: Sendable, Hashable {
  case `operator`
  /// As the broker has proved it.
  case user(UserID)
  /// A release that does not say for whom it asks.
  case unknown
}

/// What the asker may say of a container's record types.
package enum Standing: Sendable, Hashable {
  /// Everything, in production too.
  case `operator`
  /// How records behave, in development; and all in production that is said by hand.
  case developer
  /// Types and fields in development, while nothing but their names and kinds is said.
  case user
}

/// The rules of whose a container is and who may use it (face.md 2), as decisions over what is registered.
package enum Containers {
  /// What was found out of a container that somebody would use.
  package struct Facts: Sendable {
    package let registration: RegisteredContainer?
    /// Whether there are record types of it, in whichever environment; looked up only where there is no registration.
    package let hasTypes: Bool
    /// Whether whoever comes first gets the container.
    package let isOpen: Bool

    package init(registration: RegisteredContainer?, hasTypes: Bool = false, isOpen: Bool) {
      precondition(registration == nil || !hasTypes, "types were looked up of a container whose registration is there")
      self.registration = registration
      self.hasTypes = hasTypes
      self.isOpen = isOpen
    }
  }

  package enum Admission: Sendable, Hashable {
    case known(RegisteredContainer)
    /// It is the asker's if they say anything of it.
    case free
  }

  /// - Throws: `zoneDoesNotExist` where the container is not there for the asker, which sounds the same whatever the
  ///   reason; `unavailable` where its registration is lost.
  package static func admit(
    _ asker: Asker, to id: ContainerID, in environment: Environment, _ facts: Facts
  ) throws(CaravanError) -> Admission {
    precondition(facts.registration.map { $0.id == id } ?? true, "the facts are those of another container")
    guard let registration = facts.registration else {
      // Whoever came now would get what is another's.
      guard !facts.hasTypes else {
        throw CaravanError(
          .unavailable,
          "container '\(id)' has record types, but its registration is missing: the operator says whose it is "
            + "(caravan container create \(id) --owner USER)")
      }
      guard facts.isOpen, environment == .development else { throw absent(id) }
      return .free
    }
    guard registration.environments.contains(environment) else { throw absent(id) }
    switch asker {
    case .operator: return .known(registration)
    case .user(let user) where registration.mayUse(user): return .known(registration)
    case .unknown where !registration.isForMembers: return .known(registration)
    case .user, .unknown: throw absent(id)
    }
  }

  package static func standing(of asker: Asker, in container: RegisteredContainer) -> Standing {
    switch asker {
    case .operator: .operator
    case .user(let user): container.isDeveloper(user) ? .developer : .user
    case .unknown: .user
    }
  }

  /// What an open suite makes of a container that somebody uses for the first time: theirs, in development.
  package static func firstUse(of id: ContainerID, by asker: Asker) -> RegisteredContainer {
    var container = RegisteredContainer(id: id, name: id.text, owner: nil, environments: [.development])
    // A server app develops nothing, and so owns nothing: it waits for the operator to say whose the container is.
    if case .user(let user) = asker, ServerApp(user) == nil { (container.owner, container.developers) = (user, [user]) }
    precondition(isUnconfirmed(container), "the operator could not say any more whose the container is")
    return container
  }

  /// What a release without registrations has left: as it was, everybody's to use.
  package static func found(_ id: ContainerID) -> RegisteredContainer {
    RegisteredContainer(id: id, name: id.text, owner: nil)
  }

  /// Whether only its first use has made it: the operator may still say whose it is.
  package static func isUnconfirmed(_ container: RegisteredContainer) -> Bool {
    container.environments == [.development]
  }

  /// What the operator says of a container that its first use has made.
  package static func confirmed(
    _ container: RegisteredContainer, owner: UserID, isForMembers: Bool
  ) -> RegisteredContainer {
    precondition(isUnconfirmed(container), "whose container '\(container.name)' is has been said before")
    var container = container
    (container.owner, container.isForMembers, container.environments) = (owner, isForMembers, Environment.allCases)
    precondition(!isUnconfirmed(container), "what the operator said of the container could be said again")
    return container
  }

  private static func absent(_ id: ContainerID) -> CaravanError {
    CaravanError(
      .zoneDoesNotExist, "there is no container '\(id)' here: the operator makes one (caravan container create)")
  }

  // MARK: Names

  /// - Throws: `invalidData` for a name that no container can have.
  package static func check(name: String) throws(CaravanError) {
    let allowed = name.utf8.allSatisfy {
      (0x61...0x7a).contains($0 | 0x20) || (0x30...0x39).contains($0) || $0 == 0x2e || $0 == 0x5f || $0 == 0x2d
    }
    guard (1...SchemaLimits.containerNameBytes).contains(name.utf8.count), allowed,
      ![".", "..", ContainerID.system.text].contains(key(of: name))
    else {
      throw CaravanError(
        .invalidData,
        "a container cannot be called '\(name.prefix(80))': use 1 to \(SchemaLimits.containerNameBytes) of "
          + "A-Z a-z 0-9 . _ -, but not '.', '..' or '\(ContainerID.system)'")
    }
  }

  /// Names are the same where their keys are.
  package static func key(of name: String) -> String { name.lowercased() }

  /// Apps name their container by its id. So the name is the id where it can be one, and else the id is random.
  /// - Parameter random: a number below the bound.
  package static func id(for name: String, random: (UInt64) -> UInt64) -> ContainerID {
    if let id = try? ContainerID(key(of: name)) { return id }
    let letters = Array("abcdefghijklmnopqrstuvwxyz234567")
    let text = (0..<SchemaLimits.randomIDLetters).map { _ in letters[Int(random(UInt64(letters.count)))] }
    let id = ContainerID(unchecked: "c-" + String(text))
    assert((try? ContainerID(id.text)) == id, "'\(id)' is no token")
    return id
  }

  // MARK: Developers

  /// - Throws: `limitExceeded`.
  package static func allow(
    _ user: UserID, in container: RegisteredContainer
  ) throws(CaravanError) -> RegisteredContainer {
    guard !container.developers.contains(user) else { return container }
    guard container.developers.count < SchemaLimits.developersPerContainer else {
      throw CaravanError(
        .limitExceeded,
        "container '\(container.name)' has \(SchemaLimits.developersPerContainer) developers, and may have no more: "
          + "remove one first")
    }
    var container = container
    container.developers = (container.developers + [user]).sorted()
    precondition(container.isDeveloper(user) && container.mayUse(user), "who was allowed to develop is kept out")
    return container
  }

  /// - Throws: `noSuchObject` where the user is no developer; `invalidData` where they are as its owner.
  package static func remove(
    _ user: UserID, from container: RegisteredContainer
  ) throws(CaravanError) -> RegisteredContainer {
    guard container.developers.contains(user) else {
      guard container.owner != user else {
        throw CaravanError(.invalidData, "user '\(user)' owns container '\(container.name)', and so develops it")
      }
      throw CaravanError(.noSuchObject, "user '\(user)' is no developer of container '\(container.name)'")
    }
    var container = container
    container.developers.removeAll { $0 == user }
    precondition(!container.isDeveloper(user) || container.owner == user, "who was removed develops still")
    return container
  }

  // MARK: Guests

  /// - Throws: `invalidData` where everybody may use the container; `limitExceeded`.
  package static func invite(
    _ user: UserID, to container: RegisteredContainer
  ) throws(CaravanError) -> RegisteredContainer {
    guard container.isForMembers else {
      throw CaravanError(
        .invalidData,
        "every user of the suite may use container '\(container.name)': only to one made with --members-only are users "
          + "invited")
    }
    guard !container.invited.contains(user) else { return container }
    guard container.invited.count < SchemaLimits.invitedPerContainer else {
      throw CaravanError(
        .limitExceeded,
        "\(SchemaLimits.invitedPerContainer) users are invited to container '\(container.name)', and there may be no "
          + "more: uninvite one first")
    }
    var container = container
    container.invited = (container.invited + [user]).sorted()
    precondition(container.mayUse(user), "who was invited is kept out")
    return container
  }

  /// What the user has there stays, and shows again should they be invited again.
  /// - Throws: `noSuchObject` where the user was not invited.
  package static func uninvite(
    _ user: UserID, from container: RegisteredContainer
  ) throws(CaravanError) -> RegisteredContainer {
    guard container.invited.contains(user) else {
      throw CaravanError(.noSuchObject, "user '\(user)' is not invited to container '\(container.name)'")
    }
    var container = container
    container.invited.removeAll { $0 == user }
    precondition(
      !container.isForMembers || !container.mayUse(user) || container.isDeveloper(user), "who was uninvited comes in")
    return container
  }

  // MARK: Bounds

  /// - Parameters:
  ///   - all: containers of the suite.
  ///   - owned: those of the user whose the new one will be; nil: it will be the operator's.
  /// - Throws: `limitExceeded`.
  package static func checkRoom(all: UInt32, owned: UInt32?) throws(CaravanError) {
    guard all < SchemaLimits.containersPerSuite else {
      throw CaravanError(
        .limitExceeded, "this cloud has \(all) containers, and may have \(SchemaLimits.containersPerSuite)")
    }
    guard (owned ?? 0) < SchemaLimits.containersPerUser else {
      throw CaravanError(
        .limitExceeded, "one user may own \(SchemaLimits.containersPerUser) containers: use one that is there already")
    }
  }
}
