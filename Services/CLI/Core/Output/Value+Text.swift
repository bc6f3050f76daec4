internal import CaravanEncoding
public import CaravanModel

extension Value {
  /// As people read and type it; null is empty.
  public var shown: String { shown(of: nil) }

  /// - Parameter kind: of its field or column; nil: not known, and then a date is a number.
  public func shown(of kind: FieldKind?) -> String {
    switch self {
    case .null: ""
    case .integer(let number) where kind == .date: DateText.text(milliseconds: number)
    case .text(let text): text
    case .integer(let number): String(number)
    case .real(let number): number.description
    case .data(let bytes): "0x" + Hex.encode(bytes)
    case .asset(let manifest): Size.text(manifest.size)
    case .assetList(_, let size): Size.text(size)
    case .location(let place): "\(place.latitude),\(place.longitude)"
    case .reference(let reference): ReferenceText.text(reference)
    case .list(let items): JSON.array(items.map { $0.item(of: kind) }).encoded()
    }
  }

  /// A member of a list that is shown: numbers as they are, all else as it is shown by itself.
  private func item(of kind: FieldKind?) -> JSON {
    switch self {
    case .integer(let number) where kind != .date: .int(number)
    case .real(let number): .double(number)
    case .null, .text, .integer, .data, .asset, .assetList, .location, .reference, .list: .string(shown(of: kind))
    }
  }
}

public enum Size {
  /// `950 B`, `1.4 KiB`, `12.0 MiB`.
  public static func text(_ bytes: UInt64) -> String {
    guard bytes >= 1024 else { return "\(bytes) B" }
    var value = Double(bytes) / 1024
    var units = ["KiB", "MiB", "GiB", "TiB"][...]
    while value >= 1023.95, units.count > 1 {
      value /= 1024
      units.removeFirst()
    }
    let tenths = Int((value * 10).rounded())
    precondition(tenths >= 10, "\(bytes) bytes are less than 1 of their unit")
    precondition(tenths < 10_240 || units.count == 1, "\(bytes) bytes are more than 1 of the next unit")
    return "\(tenths / 10).\(tenths % 10) \(units.first ?? "TiB")"
  }
}
