import CaravanEncoding
import Testing

@Suite("JSON")
struct JSONTests {
  @Test("Writing is compact, ordered and escaped")
  func writing() {
    let value: JSON = [
      "z": 1, "a": [true, false, .null, -7, 1.5, 1e100],
      "quote\"": "back\\slash / tab\t nl\n cr\r bs\u{8} ff\u{C} \u{1}é😀",
    ]
    #expect(
      value.encoded()
        == #"{"z":1,"a":[true,false,null,-7,1.5,1e+100],"quote\"":"back\\slash / tab\t nl\n cr\r bs\b ff\f \u0001é😀"}"#)
    #expect(JSON.double(.infinity).encoded() == "null")
    #expect(JSON.int(.min).encoded() == "-9223372036854775808")
  }

  @Test("What is written is read back equal")
  func roundTrip() throws {
    let control = String(String.UnicodeScalarView((0..<0x20).compactMap { Unicode.Scalar($0 as UInt32) }))
    let value: JSON = [
      "text": .string("\(control)\"\\/\u{2028}\u{7F}é😀"), "numbers": [.int(.min), .int(.max), 0.1, -2.5e-300],
      "empty": [[:], [], ""], "": .null,
    ]
    #expect(try JSON.parse(value.encoded()) == value)
  }

  @Test("Escapes are resolved, surrogate pairs joined")
  func escapes() throws {
    #expect(try JSON.parse(#""\"\\\/\b\f\n\r\t\u00e9\uD83D\ude00""#) == "\"\\/\u{8}\u{C}\n\r\té😀")
    #expect(try JSON.parse(#" { "a" : [ 1 , 2.0 , -0.5e+1 ] } "#) == ["a": [1, 2.0, -5.0]])
  }

  @Test(
    "Strict: what is not JSON, or is ambiguous, is refused",
    arguments: [
      "", " ", "{", "[", "[1,]", "[1 2]", "{\"a\":1,}", "{a:1}", "{\"a\"}", "{\"a\":1 \"b\":2}", "01", "-", "1.", ".5",
      "1e",
      "+1", "tru", "nul", "True", "\"", "\"\\x\"", "\"\\u12\"", "\"\\uD83D\"", "\"\\uD83Dx\"", "\"\\uD83D\\u0041\"",
      "\"\\uDE00\"", "\"\n\"", "1 2", "[]]", "{\"a\":1,\"a\":2}", "9223372036854775808", "1e999", "NaN", "'a'", "/**/1",
    ])
  func malformed(text: String) {
    #expect(throws: EncodingError.self) { try JSON.parse(text) }
  }

  @Test("Bytes that are not UTF-8 are refused")
  func invalidUTF8() {
    #expect(throws: EncodingError.self) { try JSON.parse([0x22, 0xFF, 0x22]) }
    #expect(throws: EncodingError.self) { try JSON.parse([0x22, 0xC0, 0x80, 0x22]) }
  }

  @Test("Depth and size are bounded, exactly")
  func limits() throws {
    let limits = JSON.Limits(bytes: 8, depth: 3)
    #expect(try JSON.parse("[[[]]]", limits: limits) == [[[]]])
    #expect(try JSON.parse("[[],[]]", limits: limits) == [[], []])
    for text in ["[[[[]]]]", "[      1]"] {
      let error = #expect(throws: EncodingError.self) { try JSON.parse(text, limits: limits) }
      #expect(error?.code == .limitExceeded)
    }
    #expect(throws: EncodingError.self) { try JSON.parse(String(repeating: "[", count: 100_000)) }
  }

  @Test("An object keeps its order; setting keeps the place, nil removes")
  func object() {
    var object: JSON.Object = ["b": 1, "a": 2]
    object["b"] = 3
    object["c"] = 4
    object["a"] = nil
    #expect(object.members.map(\.name) == ["b", "c"])
    #expect(JSON.object(object)["b"]?.intValue == 3)
    #expect(JSON.Object(sorting: ["b": 1, "a": 2]).members.map(\.name) == ["a", "b"])
  }

  @Test("An error names the place")
  func errorText() {
    let error = #expect(throws: EncodingError.self) { try JSON.parse("[1;2]") }
    #expect(error?.description == "JSON: ',' or ']' expected, found byte 0x3b at byte 2")
  }
}
