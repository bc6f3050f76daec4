internal import CCaravanProtobufC
internal import Glibc

internal import struct Synchronization.Atomic

/// Bump allocator for the C structs of one message on its way out or in; all of it goes at once in `deinit`. Nothing of
/// it outlives `encoded()` or `init(decoding:)`.
struct Arena: ~Copyable {
  private static let blockBytes = 16 << 10
  /// The address of a block that the next arena begins with; 0: it makes one. Of that size malloc(3) sweeps its free
  /// lists together each time, which costs as much as most messages do.
  private static let spare = Atomic<UInt>(0)

  private let first: UnsafeMutableRawPointer
  /// Beside the first.
  private var blocks: [UnsafeMutableRawPointer] = []
  private var next: UnsafeMutableRawPointer
  private var left = Self.blockBytes

  init() {
    let kept = UnsafeMutableRawPointer(bitPattern: Self.spare.exchange(0, ordering: .acquiring))
    first = kept ?? malloc(Self.blockBytes)
    next = first
  }

  deinit {
    for block in blocks { free(block) }
    let address = UInt(bitPattern: first)
    if !Self.spare.compareExchange(expected: 0, desired: address, ordering: .releasing).exchanged { free(first) }
  }

  mutating func allocate(_ bytes: Int) -> UnsafeMutableRawPointer {
    let need = (bytes + 15) & ~15
    if need > left {
      let size = max(Self.blockBytes, need)
      next = malloc(size)
      left = size
      blocks.append(next)
    }
    defer {
      next += need
      left -= need
    }
    return next
  }

  /// For protobuf-c, which copies a text of `bytes` - 1 there without telling how long it is.
  mutating func allocateSized(_ bytes: Int) -> UnsafeMutableRawPointer {
    let place = allocate(Self.sizeBytes + bytes)
    place.storeBytes(of: bytes, as: Int.self)
    return place + Self.sizeBytes
  }

  /// Of what `allocateSized` returned.
  static func size(of place: UnsafeRawPointer) -> Int { (place - sizeBytes).load(as: Int.self) }

  /// As much as keeps what follows aligned.
  private static let sizeBytes = 16

  mutating func array<T>(_ type: T.Type, _ count: Int) -> UnsafeMutablePointer<T> {
    allocate(MemoryLayout<T>.stride * max(count, 1)).bindMemory(to: type, capacity: count)
  }

  mutating func make<T>(_ type: T.Type, _ initialise: (UnsafeMutablePointer<T>?) -> Void) -> UnsafeMutablePointer<T> {
    let message = array(type, 1)
    initialise(message)
    return message
  }

  mutating func string(_ value: String) -> UnsafeMutablePointer<CChar> {
    var value = value
    return value.withUTF8 { utf8 in
      let copy = array(CChar.self, utf8.count + 1)
      if let base = utf8.baseAddress { memcpy(copy, base, utf8.count) }
      copy[utf8.count] = 0
      return copy
    }
  }

  mutating func bytes(_ value: [UInt8]) -> ProtobufCBinaryData {
    let copy = array(UInt8.self, value.count)
    memcpy(copy, value, value.count)
    return ProtobufCBinaryData(len: value.count, data: copy)
  }

  mutating func messages<Value, C>(
    _ values: [Value], _ pack: (Value, inout Arena) -> UnsafeMutablePointer<C>
  ) -> (Int, UnsafeMutablePointer<UnsafeMutablePointer<C>?>?) {
    guard !values.isEmpty else { return (0, nil) }
    let list = array(UnsafeMutablePointer<C>?.self, values.count)
    for (i, value) in values.enumerated() { list[i] = pack(value, &self) }
    return (values.count, list)
  }

  mutating func strings(_ values: [String]) -> (Int, UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>?) {
    messages(values) { $1.string($0) }
  }

  mutating func byteStrings(_ values: [[UInt8]]) -> (Int, UnsafeMutablePointer<ProtobufCBinaryData>?) {
    guard !values.isEmpty else { return (0, nil) }
    let list = array(ProtobufCBinaryData.self, values.count)
    for (i, value) in values.enumerated() { list[i] = bytes(value) }
    return (values.count, list)
  }

  mutating func scalars<Scalar: BitwiseCopyable>(_ values: [Scalar]) -> (Int, UnsafeMutablePointer<Scalar>?) {
    guard !values.isEmpty else { return (0, nil) }
    let list = array(Scalar.self, values.count)
    list.update(from: values, count: values.count)
    return (values.count, list)
  }
}

func packed(_ size: Int, _ pack: (UnsafeMutablePointer<UInt8>) -> Int) -> [UInt8] {
  guard size > 0 else { return [] }
  return [UInt8](unsafeUninitializedCapacity: size) { buffer, count in
    count = buffer.baseAddress.map(pack) ?? 0
    precondition(count == size, "protobuf-c packed another size than it announced")
  }
}
