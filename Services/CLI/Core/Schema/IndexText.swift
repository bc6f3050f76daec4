public import CaravanModel

/// What queries may do with a field, as people write it: `title=queryable+sortable`, `note=nothing`.
public enum IndexText {
  /// - Throws: `invalidData` with what there is.
  public static func parse(_ text: String) throws(CaravanError) -> (field: String, indexes: FieldIndexes) {
    let parts = text.split(separator: "=", maxSplits: 1).map(String.init)
    guard parts.count == 2 else { throw notUnderstood(text) }
    guard parts[1] != FieldIndexes().description else { return (parts[0], []) }
    var indexes: FieldIndexes = []
    for word in parts[1].split(separator: "+", omittingEmptySubsequences: false) {
      guard let index = FieldIndexes.words.first(where: { $0.word == word })?.index else { throw notUnderstood(text) }
      indexes.insert(index)
    }
    assert(!indexes.isEmpty, "'\(text)' says nothing and is not 'nothing'")
    return (parts[0], indexes)
  }

  private static func notUnderstood(_ text: String) -> CaravanError {
    let uses = FieldIndexes.words.map(\.word).joined(separator: ", ")
    return CaravanError(
      .invalidData,
      "'\(text.prefix(80))' says of no field what queries may do with it: write FIELD=USE+USE, "
        + "title=queryable+sortable or note=nothing for instance; uses are \(uses)")
  }
}
