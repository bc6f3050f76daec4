public import CaravanModel

/// `name=x`, `photo=@file`: what a column gets.
public struct Assignment: Sendable, Equatable {
  public enum Source: Sendable, Equatable {
    case value(Value)
    /// The bytes of a file: an object, or a BLOB.
    case file(String, isObject: Bool)
  }

  public let column: String
  public let source: Source

  /// - Parameter schema: of the table; nil: not known, then `@` means an object and numbers are numbers.
  /// - Throws: `invalidData` when there is no `=`; `schemaViolation` when the text is none of the column's kind.
  public init(_ text: String, schema: SchemaText?) throws(CaravanError) {
    guard let equals = text.firstIndex(of: "="), equals != text.startIndex else {
      throw CaravanError(.invalidData, "'\(text.prefix(80))' is no assignment: write COLUMN=VALUE or COLUMN=@FILE")
    }
    column = String(text[..<equals])
    source = try Self.source(String(text[text.index(after: equals)...]), column, schema)
  }

  private static func source(
    _ text: String, _ name: String, _ schema: SchemaText?
  ) throws(CaravanError) -> Source {
    let known = schema?.columns.first { $0.name.lowercased() == name.lowercased() }
    let file = text.hasPrefix("@") ? String(text.dropFirst()) : nil
    guard let known else {
      return file.map { .file($0, isObject: true) } ?? .value(TypedText.guess(text))
    }
    switch (known.kind, file) {
    case (.object, let file?): return .file(file, isObject: true)
    case (.data, let file?) where !known.isList: return .file(file, isObject: false)
    case (.text, _), (.integer, _), (.real, _), (.data, _), (.object, nil), (.date, _), (.location, _), (.reference, _):
      return .value(try TypedText.value(text, name, known.kind, isList: known.isList))
    }
  }

  /// - Throws: as `init`; `invalidData` when a column stands twice.
  public static func list(_ texts: some Sequence<String>, schema: SchemaText?) throws(CaravanError) -> [Assignment] {
    var list: [Assignment] = []
    for text in texts {
      let assignment = try Assignment(text, schema: schema)
      guard !list.contains(where: { $0.column == assignment.column }) else {
        throw CaravanError(.invalidData, "column '\(assignment.column)' is given twice: leave one out")
      }
      list.append(assignment)
    }
    return list
  }
}

/// `date desc, name`: what a list is ordered by.
public enum SortText {
  /// - Throws: `invalidData`.
  public static func keys(_ text: String) throws(CaravanError) -> [SortKey] {
    var keys: [SortKey] = []
    for part in text.split(separator: ",", omittingEmptySubsequences: false) {
      let words = part.split(separator: " ").map(String.init)
      switch (words.count, words.last?.lowercased()) {
      case (1, _): keys.append(SortKey(words[0]))
      case (2, "asc"): keys.append(SortKey(words[0]))
      case (2, "desc"): keys.append(SortKey(words[0], isDescending: true))
      case (4...5, let last)
      where words[1].lowercased() == "near" && (words.count == 4 || last == "asc" || last == "desc"):
        guard let latitude = Double(words[2]), let longitude = Double(words[3]) else { throw refusal(text) }
        let place = try Location(latitude: latitude, longitude: longitude)
        keys.append(SortKey(words[0], isDescending: words.count == 5 && last == "desc", near: place))
      default: throw refusal(text)
      }
    }
    return keys
  }

  private static func refusal(_ text: String) -> CaravanError {
    CaravanError(
      .invalidData,
      "--order-by '\(text.prefix(80))': write COLUMN [asc|desc], several with commas, or of places in the cloud COLUMN "
        + "near LATITUDE LONGITUDE")
  }
}
