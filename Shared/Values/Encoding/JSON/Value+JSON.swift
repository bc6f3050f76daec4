public import CaravanModel

extension Value {
  /// As programs read it: bytes in base 64, an object as `{"size": n}`, a date in Unix
  /// milliseconds, a place as `{"latitude": n, "longitude": n}`, a reference as `{"record": name, "kind": word}`.
  public var json: JSON {
    switch self {
    case .null: .null
    case .text(let text): .string(text)
    case .integer(let number): .int(number)
    case .real(let number): .double(number)
    case .data(let bytes): .string(Base64.encode(bytes))
    case .asset(let manifest): ["size": .int(Int64(clamping: manifest.size))]
    case .assetList(_, let size): ["size": .int(Int64(clamping: size))]
    case .location(let place): ["latitude": .double(place.latitude), "longitude": .double(place.longitude)]
    case .reference(let reference): ["record": .string(reference.target), "kind": .string(reference.kind.word)]
    case .list(let items): .array(items.map(\.json))
    }
  }

  /// A value that was written as `json`, without its kind: bytes stay their base 64, and a real that is whole may be an
  /// integer.
  /// - Returns: nil: it is none, as an object is.
  public init?(_ json: JSON) {
    switch json {
    case .null: self = .null
    case .bool(let flag): self = .integer(flag ? 1 : 0)
    case .int(let number): self = .integer(number)
    case .double(let number): self = .real(number)
    case .string(let text): self = .text(text)
    case .array(let items): self = .list(items.compactMap { Value($0) })
    case .object:
      if let latitude = json["latitude"]?.doubleValue, let longitude = json["longitude"]?.doubleValue,
        let place = try? Location(latitude: latitude, longitude: longitude)
      {
        self = .location(place)
      } else if let target = json["record"]?.stringValue,
        let kind = Reference.Kind.allCases.first(where: { $0.word == json["kind"]?.stringValue })
      {
        self = .reference(Reference(to: target, kind))
      } else {
        return nil
      }
    }
  }
}
