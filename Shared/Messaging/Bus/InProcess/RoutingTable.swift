internal import CaravanRuntime

/// One subscription of one peer.
struct Route {
  let peer: Peer
  let pattern: SubjectPattern
  let group: String?
  let mailbox: Mailbox<Incoming>
}

/// Who gets what. Lists are in the order of subscribing, so one seed gives one history.
struct RoutingTable {
  private var peers: [UInt64: Peer] = [:]
  private var routes: [UInt64: Route] = [:]
  private var exact: [Subject: [UInt64]] = [:]
  private var wild: [UInt64] = []
  private var last: UInt64 = 0

  mutating func addPeer(named name: String, _ admission: BrokerAdmission?) -> Peer {
    last += 1
    let peer = Peer(id: last, name: name, admission: admission)
    peers[last] = peer
    return peer
  }

  mutating func removePeer(_ peer: Peer) { peers[peer.id] = nil }

  func peer(_ id: UInt64) -> Peer? { peers[id] }

  func peers(named name: String) -> [Peer] { peers.values.filter { $0.name == name }.sorted { $0.id < $1.id } }

  /// Those that were admitted with a key, in the order of their coming.
  func peers(where isMeant: (BrokerAdmission) -> Bool) -> [Peer] {
    peers.values.filter { $0.admission.map(isMeant) ?? false }.sorted { $0.id < $1.id }
  }

  mutating func add(_ route: Route) -> UInt64 {
    last += 1
    routes[last] = route
    if case .exact(let subject) = route.pattern {
      exact[subject, default: []].append(last)
    } else {
      wild.append(last)
    }
    return last
  }

  mutating func remove(_ id: UInt64) {
    guard let route = routes.removeValue(forKey: id) else { return }
    if case .exact(let subject) = route.pattern {
      exact[subject]?.removeAll { $0 == id }
      if exact[subject]?.isEmpty == true { exact[subject] = nil }
    } else {
      wild.removeAll { $0 == id }
    }
  }

  mutating func removeRoutes(of peer: Peer) -> [Mailbox<Incoming>] {
    let own = routes.filter { $0.value.peer === peer }.sorted { $0.key < $1.key }
    for (id, _) in own { remove(id) }
    return own.map(\.value.mailbox)
  }

  /// Everybody outside a group, and one of each group; only of peers that are connected and may hear it.
  func receivers(of subject: Subject, random: any RandomSource) -> [Route] {
    let ids = exact[subject, default: []] + wild.filter { routes[$0]?.pattern.matches(subject) == true }
    let able = ids.compactMap { routes[$0] }.filter { $0.peer.isUp && $0.peer.mayHear(subject) }
    var receivers = able.filter { $0.group == nil }
    var names: [String] = []
    for case let name? in able.map(\.group) where !names.contains(name) { names.append(name) }
    for name in names {
      let members = able.filter { $0.group == name }
      receivers.append(members[Int(random.below(UInt64(members.count)))])
    }
    return receivers
  }
}
