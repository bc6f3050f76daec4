import CaravanClient

/// What a row of the table holds beside the list's name.
struct ShoppingList: Equatable {
  /// In the order in which they were written down.
  var items: [String] = []
  /// Those of them that are in the basket.
  var checked: Set<String> = []

  /// Puts an item on the list; one that was in the basket is to be bought again.
  mutating func add(_ item: String) {
    if !items.contains(item) { items.append(item) }
    checked.remove(item)
  }

  mutating func check(_ item: String) throws {
    guard items.contains(item) else { throw CaravanError(.noSuchObject, "there is no '\(item)' on the list") }
    checked.insert(item)
  }

  mutating func remove(_ item: String) {
    items.removeAll { $0 == item }
    checked.remove(item)
  }

  /// Both devices' changes of a list, which were made without each other.
  /// - Parameter ancestor: the list that both began with.
  func merged(with theirs: ShoppingList, since ancestor: ShoppingList) -> ShoppingList {
    let kept = merge(Set(items), Set(theirs.items), since: Set(ancestor.items))
    let order = theirs.items + items.filter { !theirs.items.contains($0) }
    return ShoppingList(
      items: order.filter(kept.contains),
      checked: merge(checked, theirs.checked, since: ancestor.checked).intersection(kept))
  }

  /// What either has added is in, and what either has removed is out.
  private func merge(_ mine: Set<String>, _ theirs: Set<String>, since ancestor: Set<String>) -> Set<String> {
    mine.union(theirs).subtracting(ancestor.subtracting(mine)).subtracting(ancestor.subtracting(theirs))
  }
}

extension ShoppingList {
  /// An empty list where there is no row.
  init(_ row: AppRow?) {
    items = row?["items"].listValue?.compactMap(\.textValue) ?? []
    checked = Set(row?["checked"].listValue?.compactMap(\.textValue) ?? [])
  }

  var cells: [String: Value] {
    ["items": .list(items.map(Value.text)), "checked": .list(items.filter(checked.contains).map(Value.text))]
  }
}
