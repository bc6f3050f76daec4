extension Checker {
  /// A device without a link is silent, whatever waits.
  static let linksRespected = Checker("I13 nothing leaves a device without a link") { $0.trespasses }
}
