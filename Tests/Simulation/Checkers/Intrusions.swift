extension Checker {
  /// Nothing of one user reaches another's device, and nobody uses what is another's.
  static let ownKeptApart = Checker("TRU-01, TRU-05 what is one's own serves nobody else") { $0.intrusions }

  /// Whoever does what the product does has the permissions for it.
  static let rightsSuffice = Checker("architecture §4 the broker refuses nothing that the product does") { history in
    history.denials
  }

  /// Two instances of a service never act for the same partition, and for each there is one.
  static let ownersAgree = Checker("every partition has one owner when quiet") { $0.end.ownerProblems }
}
