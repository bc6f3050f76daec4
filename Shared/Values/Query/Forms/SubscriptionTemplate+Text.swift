public import CaravanModel

// A template's text is a query whose `?` nobody has given values yet.
extension SubscriptionTemplate {
  /// How many `?` its text has.
  /// - Throws: `invalidData` for a text that cannot be read; `limitExceeded`.
  public var parameters: Int {
    get throws(CaravanError) {
      guard let text else { return 0 }
      return try ExpressionText(text).arguments
    }
  }

  /// Whether it fits the record type: its query, whatever the parameters will be, and what notifications carry.
  /// - Throws: `invalidData` for a text that cannot be read, and for no events; `schemaViolation` naming the field;
  ///   `limitExceeded`.
  public func check(against type: RecordType) throws(CaravanError) {
    precondition(type.name == self.type, "template '\(name)' is held against another type")
    guard !events.isEmpty else {
      throw CaravanError(.invalidData, "template '\(name)' waits for nothing: for what enters, leaves or changes")
    }
    if let text {
      try ExpressionText(text, subject: "template '\(name)'").check(against: type)
    }
    try shows.check()
    try shows.check(against: type)
  }
}
