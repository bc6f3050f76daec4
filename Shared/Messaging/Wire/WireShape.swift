/// What the scanner knows of a message type: its fields, and what one unpacked message of it takes of memory. The table
/// of all of them is made by `Protos/generate`.
struct WireShape: Sendable {
  /// Of the C struct and the Swift value, without what they point to.
  let memory: Int
  /// Ascending by number.
  let fields: [WireField]

  init(_ memory: Int, _ fields: [WireField]) {
    self.memory = memory
    self.fields = fields
  }
}

struct WireField: Sendable {
  enum Kind: Sendable {
    case varint, fixed64, text, bytes, message
  }

  let number: UInt32
  let kind: Kind
  let isRepeated: Bool
  /// Of a message field: which one of the table it holds.
  let shape: Int
  /// Of a repeated field that has a bound of its own: how many elements are allowed, where they are counted, and what
  /// the field is called.
  let most: Int
  let slot: Int
  let name: String

  init(
    _ number: UInt32, _ kind: Kind, repeated: Bool = false, shape: Int = -1, most: Int = .max, slot: Int = -1,
    _ name: String = ""
  ) {
    self.number = number
    self.kind = kind
    isRepeated = repeated
    self.shape = shape
    self.most = most
    self.slot = slot
    self.name = name
  }
}

/// The table as the scanner reads it: all fields in one array, so that a look at one costs no reference count.
struct WireTable: Sendable {
  struct Entry: Sendable {
    let number: UInt32
    let kind: WireField.Kind
    let isRepeated: Bool
    let shape: Int32
    let most: Int
    let slot: Int32
  }

  struct Range: Sendable {
    let memory: Int
    let first: Int
    let end: Int
  }

  static let all = WireTable(WireShape.all)

  let messages: [Range]
  let fields: [Entry]
  /// Of the fields that have a bound of their own.
  let names: [String]

  private init(_ shapes: [WireShape]) {
    var messages: [Range] = []
    var fields: [Entry] = []
    names = shapes.flatMap(\.fields).map(\.name)
    for shape in shapes {
      let first = fields.count
      for field in shape.fields {
        fields.append(
          Entry(
            number: field.number, kind: field.kind, isRepeated: field.isRepeated, shape: Int32(field.shape),
            most: field.most, slot: Int32(field.slot)))
      }
      messages.append(Range(memory: shape.memory, first: first, end: fields.count))
    }
    self.messages = messages
    self.fields = fields
  }
}
