extension Checker {
  /// Nothing of one user reaches another's device, and nobody uses what is another's.
  static let ownKeptApart = Checker("A1, A5 what is one's own serves nobody else") { $0.intrusions }

  /// Two instances of a service never act for the same partition, and for each there is one.
  static let ownersAgree = Checker("every partition has one owner when quiet") { $0.end.ownerProblems }
}
