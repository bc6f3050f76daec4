import CaravanEncoding
import Testing

@Suite("Text encodings")
struct TextEncodingTests {
  static let foobar: [(String, base32: String, base64: String)] = [
    ("", "", ""), ("f", "MY", "Zg=="), ("fo", "MZXQ", "Zm8="), ("foo", "MZXW6", "Zm9v"),
    ("foob", "MZXW6YQ", "Zm9vYg=="),
    ("fooba", "MZXW6YTB", "Zm9vYmE="), ("foobar", "MZXW6YTBOI", "Zm9vYmFy"),
  ]

  @Test("RFC 4648 §10 vectors, both ways", arguments: foobar)
  func vectors(text: String, base32: String, base64: String) throws {
    let bytes = Array(text.utf8)
    #expect(Base32.encode(bytes) == base32)
    #expect(try Base32.decode(base32) == bytes)
    #expect(Base64.encode(bytes) == base64)
    #expect(try Base64.decode(base64) == bytes)
    let unpadded = String(base64.prefix { $0 != "=" })
    #expect(Base64.encodeURL(bytes) == unpadded)
    #expect(try Base64.decodeURL(unpadded) == bytes)
  }

  @Test("The two base64 alphabets differ in exactly two characters and refuse each other's")
  func alphabets() throws {
    let bytes: [UInt8] = [0xFB, 0xFF, 0xBF]
    #expect(Base64.encode(bytes) == "+/+/")
    #expect(Base64.encodeURL(bytes) == "-_-_")
    #expect(throws: EncodingError.self) { try Base64.decode("-_-_") }
    #expect(throws: EncodingError.self) { try Base64.decodeURL("+/+/") }
  }

  @Test(
    "Base32 refuses a second spelling, padding, lower case and impossible lengths",
    arguments: [
      ("MZ", EncodingError.Code.notCanonical), ("MY======", .invalidCharacter), ("my", .invalidCharacter),
      ("M", .invalidLength), ("MZX", .invalidLength), ("MZXW6Y", .invalidLength), ("M1", .invalidCharacter),
    ])
  func badBase32(text: String, code: EncodingError.Code) {
    let error = #expect(throws: EncodingError.self) { try Base32.decode(text) }
    #expect(error?.code == code)
  }

  @Test(
    "Base64 refuses missing or surplus padding, white space and set unused bits",
    arguments: [
      ("Zg", EncodingError.Code.invalidLength), ("Zg=", .invalidLength), ("Z===", .invalidCharacter),
      ("====", .invalidCharacter), ("Zh==", .notCanonical), ("Zm9=", .notCanonical), ("Zm 9", .invalidCharacter),
      ("Zg==Zg==", .invalidCharacter), ("Zm9vA===", .invalidCharacter),
    ])
  func badBase64(text: String, code: EncodingError.Code) {
    let error = #expect(throws: EncodingError.self) { try Base64.decode(text) }
    #expect(error?.code == code)
  }

  @Test("Base64url refuses padding and a length that ends inside a byte", arguments: ["Zg==", "Z", "Zm9vY"])
  func badBase64URL(text: String) {
    #expect(throws: EncodingError.self) { try Base64.decodeURL(text) }
  }

  @Test("Every byte survives every encoding")
  func roundTrip() throws {
    for count in 0...64 {
      let bytes = (0..<count).map { UInt8(truncatingIfNeeded: $0 &* 37 &+ count &* 11) }
      #expect(try Base32.decode(Base32.encode(bytes)) == bytes)
      #expect(try Base64.decode(Base64.encode(bytes)) == bytes)
      #expect(try Base64.decodeURL(Base64.encodeURL(bytes)) == bytes)
      #expect(try Hex.decode(Hex.encode(bytes)) == bytes)
    }
  }

  @Test("Hex reads both cases, writes lower case, refuses the rest")
  func hex() throws {
    #expect(Hex.encode([0x00, 0x9F, 0xA0]) == "009fa0")
    #expect(try Hex.decode("009FaF") == [0x00, 0x9F, 0xAF])
    for text in ["0", "0g", "0x", " 0", "é"] {
      #expect(throws: EncodingError.self) { try Hex.decode(text) }
    }
  }

  @Test("An error says what is wrong and where")
  func errorText() {
    let error = #expect(throws: EncodingError.self) { try Hex.decode("00zz") }
    #expect(error?.description == "hex: not a hexadecimal digit at byte 2")
  }

  @Test("CRC-16/XMODEM check value")
  func crc() {
    #expect(CRC16.xmodem("123456789".utf8) == 0x31C3)
    #expect(CRC16.xmodem([]) == 0)
  }
}
