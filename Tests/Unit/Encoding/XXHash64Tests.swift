import CaravanEncoding
import Testing

@Suite struct XXHash64Tests {
  @Test(
    "the reference's values, for every way a text can end",
    arguments: [
      ("", 0xef46_db37_51d8_e999), ("a", 0xd24e_c4f1_a98c_6e5b), ("abc", 0x44bc_2cf5_ad77_0999),
      (String(repeating: "0123456789", count: 10), 0xf80e_7b96_315a_fffa),
    ] as [(String, UInt64)])
  func vectors(text: String, sum: UInt64) { #expect(XXHash64.hash(Array(text.utf8)) == sum) }

  @Test("one turned bit anywhere gives another sum")
  func bits() {
    let bytes = (0..<100).map { UInt8($0) }
    let sum = XXHash64.hash(bytes)
    for bit in 0..<800 {
      var turned = bytes
      turned[bit / 8] ^= 1 << UInt8(bit % 8)
      #expect(XXHash64.hash(turned) != sum)
    }
  }
}
