extension BodyScanner {
  private enum Level { case fields, field, list }

  /// Whether an encoded `Fields` that was scanned before has an object, be it an empty one, which names no chunk.
  package static func holdsObjects(_ body: [UInt8]) -> Bool {
    let bytes = body.span
    return (try? holdsObjects(.fields, bytes, 0..<bytes.count)) ?? false
  }

  private static func holdsObjects(
    _ level: Level, _ bytes: borrowing Span<UInt8>, _ range: Range<Int>
  ) throws(BodyProblem) -> Bool {
    var reader = ProtobufReader(range)
    while !reader.isAtEnd {
      let (number, form) = try reader.tag(bytes)
      guard form == .bytes else {
        try reader.skip(form, bytes)
        continue
      }
      let part = try reader.range(bytes)
      switch (level, number) {
      case (.fields, 1): if try holdsObjects(.field, bytes, part) { return true }
      case (.field, 9): if try holdsObjects(.list, bytes, part) { return true }
      case (.field, 6), (.list, 5): return true
      case (.fields, _), (.field, _), (.list, _): continue
      }
    }
    return false
  }
}
