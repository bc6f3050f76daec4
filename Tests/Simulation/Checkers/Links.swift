extension Checker {
  /// A device without a link is silent, whatever waits, and no table goes over one that is too expensive for it.
  static let linksRespected = Checker("I13 nothing goes over a link that it may not use") { $0.trespasses }
}
