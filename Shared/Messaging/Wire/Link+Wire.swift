public import CaravanModel

extension LinkClass {
  public init(_ link: CaravanModel.LinkClass?) {
    self =
      switch link {
      case nil: .none
      case .wired: .wired
      case .wifi: .wifi
      case .cellular: .cellular
      case .roaming: .roaming
      }
  }

  public var model: CaravanModel.LinkClass? {
    switch self {
    case .none: nil
    case .wired: .wired
    case .wifi: .wifi
    case .cellular: .cellular
    case .roaming: .roaming
    }
  }
}
