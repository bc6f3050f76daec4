/// What a test needs to go on is not there: it fails, instead of passing over what it was to look at.
public struct Missing: Error, CustomStringConvertible {
  public let description: String

  public init(_ what: String) { description = "there is no \(what)" }
}
