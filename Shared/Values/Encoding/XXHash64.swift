/// XXH64 (Yann Collet, https://github.com/Cyan4973/xxHash/blob/dev/doc/xxhash_spec.md): a checksum that finds what a
/// disk has lost or turned, ten times faster than a cryptographic one. It proves nothing about who wrote the bytes.
public enum XXHash64 {
  private static let prime1: UInt64 = 0x9e37_79b1_85eb_ca87
  private static let prime2: UInt64 = 0xc2b2_ae3d_27d4_eb4f
  private static let prime3: UInt64 = 0x1656_67b1_9e37_79f9
  private static let prime4: UInt64 = 0x85eb_ca77_c2b2_ae63
  private static let prime5: UInt64 = 0x27d4_eb2f_1656_67c5

  public static func hash(_ bytes: borrowing [UInt8], seed: UInt64 = 0) -> UInt64 {
    unsafe hash(bytes.span.bytes, seed: seed)
  }

  /// Of the word's bytes, the least significant first.
  public static func hash(_ word: UInt64, seed: UInt64) -> UInt64 {
    let state = seed &+ prime5 &+ 8
    return avalanched(rotated(state ^ round(0, word), 27) &* prime1 &+ prime4)
  }

  public static func hash(_ bytes: RawSpan, seed: UInt64 = 0) -> UInt64 {
    let count = bytes.byteCount
    var offset = 0
    var state = seed &+ prime5
    if count >= 32 {
      state = stripes(bytes, seed, &offset)
    }
    state = state &+ UInt64(count)
    // Safe: each load ends at or before `count`.
    while offset &+ 8 <= count {
      let lane = unsafe bytes.unsafeLoadUnaligned(fromUncheckedByteOffset: offset, as: UInt64.self).littleEndian
      state = rotated(state ^ round(0, lane), 27) &* prime1 &+ prime4
      offset &+= 8
    }
    if offset &+ 4 <= count {
      let lane = unsafe bytes.unsafeLoadUnaligned(fromUncheckedByteOffset: offset, as: UInt32.self).littleEndian
      state = rotated(state ^ (UInt64(lane) &* prime1), 23) &* prime2 &+ prime3
      offset &+= 4
    }
    while offset < count {
      let byte = unsafe bytes.unsafeLoad(fromUncheckedByteOffset: offset, as: UInt8.self)
      state = rotated(state ^ (UInt64(byte) &* prime5), 11) &* prime1
      offset &+= 1
    }
    return avalanched(state)
  }

  /// The whole stripes of 32 bytes.
  private static func stripes(_ bytes: RawSpan, _ seed: UInt64, _ offset: inout Int) -> UInt64 {
    var (a, b) = (seed &+ prime1 &+ prime2, seed &+ prime2)
    var (c, d) = (seed, seed &- prime1)
    var position = 0
    let end = bytes.byteCount &- 32
    while position <= end {
      // Safe: the last of the four loads ends at or before the last byte.
      let first = unsafe bytes.unsafeLoadUnaligned(fromUncheckedByteOffset: position, as: UInt64.self).littleEndian
      let second = unsafe bytes.unsafeLoadUnaligned(fromUncheckedByteOffset: position &+ 8, as: UInt64.self)
        .littleEndian
      let third = unsafe bytes.unsafeLoadUnaligned(fromUncheckedByteOffset: position &+ 16, as: UInt64.self)
        .littleEndian
      let fourth = unsafe bytes.unsafeLoadUnaligned(fromUncheckedByteOffset: position &+ 24, as: UInt64.self)
        .littleEndian
      (a, b, c, d) = (round(a, first), round(b, second), round(c, third), round(d, fourth))
      position &+= 32
    }
    offset = position
    var state = rotated(a, 1) &+ rotated(b, 7) &+ rotated(c, 12) &+ rotated(d, 18)
    for lane in [a, b, c, d] { state = (state ^ round(0, lane)) &* prime1 &+ prime4 }
    return state
  }

  private static func round(_ state: UInt64, _ lane: UInt64) -> UInt64 {
    rotated(state &+ lane &* prime2, 31) &* prime1
  }

  private static func rotated(_ value: UInt64, _ bits: UInt64) -> UInt64 { value &<< bits | value &>> (64 &- bits) }

  private static func avalanched(_ value: UInt64) -> UInt64 {
    var state = value
    state = (state ^ state &>> 33) &* prime2
    state = (state ^ state &>> 29) &* prime3
    return state ^ state &>> 32
  }
}
