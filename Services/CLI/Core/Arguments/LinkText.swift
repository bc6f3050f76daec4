public import CaravanModel

/// A link as people type it.
public enum LinkText {
  /// - Parameter words: what may be said instead of a link, for the error.
  /// - Returns: nil for `none`.
  /// - Throws: `invalidData` with the names there are.
  public static func parse(_ text: String, or words: [String] = ["none"]) throws(CaravanError) -> LinkClass? {
    if text == "none" { return nil }
    guard let link = LinkClass(name: text) else {
      let names = (LinkClass.allCases.map(\.name) + words).joined(separator: ", ")
      throw CaravanError(.invalidData, "'\(text.prefix(80))' is no link: use one of \(names)")
    }
    return link
  }

  public static func name(_ link: LinkClass?) -> String { link?.name ?? "none" }
}
