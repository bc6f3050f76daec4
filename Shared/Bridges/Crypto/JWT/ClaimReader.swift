internal import CaravanEncoding

/// Takes typed claims out of a JSON object; every refusal names the claim.
struct ClaimReader {
  let path: String
  private let members: JSON.Object

  init(_ json: JSON, path: String) throws(CryptoError) {
    guard let members = json.objectValue else { throw CryptoError(.invalidToken, "\(path): an object expected") }
    self.path = path
    self.members = members
  }

  var entries: [(name: String, value: JSON)] { members.members.map { ($0.name, $0.value) } }

  func string(_ name: String) throws(CryptoError) -> String { try require(optionalString(name), name, "a string") }
  func integer(_ name: String) throws(CryptoError) -> Int64 { try require(optionalInteger(name), name, "an integer") }
  func object(_ name: String) throws(CryptoError) -> ClaimReader {
    try require(optionalObject(name), name, "an object")
  }

  func key(_ name: String, kind: NKeyKind? = nil) throws(CryptoError) -> PublicNKey {
    try require(optionalKey(name, kind: kind), name, "a public nkey")
  }

  func optionalString(_ name: String) throws(CryptoError) -> String? {
    guard let value = members[name] else { return nil }
    return try string(value, name)
  }

  func optionalInteger(_ name: String) throws(CryptoError) -> Int64? {
    guard let value = members[name] else { return nil }
    return try integer(value, name)
  }

  func optionalArray(_ name: String) throws(CryptoError) -> [JSON]? {
    guard let value = members[name] else { return nil }
    return try require(value.arrayValue, name, "an array")
  }

  func optionalObject(_ name: String) throws(CryptoError) -> ClaimReader? {
    guard let value = members[name] else { return nil }
    return try ClaimReader(value, path: "\(path).\(name)")
  }

  func optionalKey(_ name: String, kind: NKeyKind? = nil) throws(CryptoError) -> PublicNKey? {
    guard let value = members[name] else { return nil }
    return try key(value, name, kind: kind)
  }

  // MARK: Values at hand

  func integer(_ value: JSON, _ name: String) throws(CryptoError) -> Int64 {
    try require(value.intValue, name, "an integer")
  }

  func string(_ value: JSON, _ name: String) throws(CryptoError) -> String {
    try require(value.stringValue, name, "a string")
  }

  func key(_ value: JSON, _ name: String, kind: NKeyKind? = nil) throws(CryptoError) -> PublicNKey {
    do { return try PublicNKey(string(value, name), kind: kind) } catch {
      throw CryptoError(.invalidToken, "\(path).\(name): \(error)")
    }
  }

  private func require<T>(_ value: T?, _ name: String, _ what: String) throws(CryptoError) -> T {
    guard let value else { throw CryptoError(.invalidToken, "\(path).\(name): \(what) expected") }
    return value
  }
}

extension PublicNKey {
  var json: JSON { .string(text) }
}
