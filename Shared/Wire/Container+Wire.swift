public import Model

extension ContainerSettings {
  public init(_ settings: Model.ContainerSettings) {
    self.init(publicShards: settings.publicShards, privateShards: settings.privateShards)
  }

  /// What is not said is as usual.
  public func model() -> Model.ContainerSettings {
    var settings = Model.ContainerSettings()
    if publicShards > 0 { settings.publicShards = publicShards }
    if privateShards > 0 { settings.privateShards = privateShards }
    return settings
  }
}
