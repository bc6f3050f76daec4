package import CaravanModel

extension Query {
  /// FNV-1a of everything but limit and cursor: a cursor fits the query it came from, in pages of any size.
  package var fingerprint: UInt64 {
    var hash = Hash()
    // One query of a default zone is asked of each of its shards, and a cursor fits them all.
    hash.add(database.shard(0).description)
    hash.add(type)
    hash.add(zone ?? "")
    switch viewer {
    case nil: hash.add("everybody")
    case .anonymous: hash.add("anonymous")
    case .user(let author): hash.add("user \(author)")
    case .server(let author): hash.add("server \(author)")
    }
    hash.add(text?.text ?? "")
    for argument in text?.arguments ?? [] { hash.add(argument) }
    for term in predicate.terms {
      switch term {
      case .compare(let field, let comparison, let value):
        hash.add(field)
        hash.add(comparison.rawValue)
        hash.add(value)
      case .all(let count): hash.add("all \(count)")
      case .any(let count): hash.add("any \(count)")
      case .not: hash.add("not")
      }
    }
    for key in sort {
      hash.add(key.field)
      hash.add(key.isDescending ? "down" : "up")
      guard let near = key.near else { continue }
      for degrees in [near.latitude, near.longitude] { hash.add(.real(degrees)) }
    }
    return hash.value
  }

  private struct Hash {
    var value: UInt64 = 0xcbf2_9ce4_8422_2325

    mutating func add(_ bytes: some Sequence<UInt8>) {
      for byte in bytes { value = (value ^ UInt64(byte)) &* 0x100_0000_01b3 }
    }

    /// Ends with a byte that UTF-8 does not have, so that two texts never read as one.
    mutating func add(_ text: String) {
      add(text.utf8)
      add([0xff])
    }

    mutating func add(_ item: Value) {
      add(item.kindName)
      switch item {
      case .null, .asset, .assetList: return
      case .location(let place): for degrees in [place.latitude, place.longitude] { add(.real(degrees)) }
      case .list(let items): for item in [.integer(Int64(items.count))] + items { add(item) }
      case .reference(let reference): add(reference.target)
      case .text(let text): add(text)
      case .integer(let number): add(String(number))
      case .real(let number): add(String(number.bitPattern))
      case .data(let bytes): add(bytes)
      }
    }
  }
}
