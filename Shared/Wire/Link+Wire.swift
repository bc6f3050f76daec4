public import Model

extension LinkClass {
  public init(_ link: Model.LinkClass?) {
    self =
      switch link {
      case nil: .none
      case .wired: .wired
      case .wifi: .wifi
      case .cellular: .cellular
      case .roaming: .roaming
      }
  }

  public var model: Model.LinkClass? {
    switch self {
    case .none: nil
    case .wired: .wired
    case .wifi: .wifi
    case .cellular: .cellular
    case .roaming: .roaming
    }
  }
}
