import CaravanModel
import Foundation
import Testing

@testable import CaravanCompression

private func opened(_ frame: [UInt8], limit: Int = 1 << 20) throws -> [UInt8] {
  var decompressor = try Decompressor()
  return try decompressor.decompress(frame, limit: limit)
}

private func code(_ body: () throws -> [UInt8]) -> ErrorCode? {
  do {
    _ = try body()
    return nil
  } catch let error as CaravanError {
    return error.code
  } catch {
    return nil
  }
}

/// Made by `zstd --no-content-size`: the sentence 60 times, size unstated.
private let sentence = Array(String(repeating: "Hello, zstd frame without size. ", count: 60).utf8)
private let unsizedFrame = hex(
  "28b52ffd00584d0100040248656c6c6f2c207a737464206672616d6520776974686f75742073697a652e200100e87afcea09")

private func hex(_ text: String) -> [UInt8] {
  let digits = Array(text)
  return stride(from: 0, to: digits.count, by: 2).map { UInt8(String(digits[$0...$0 + 1]), radix: 16)! }
}

@Suite struct CompressionTests {
  @Test("what goes in comes out, and one context serves many frames", arguments: [1, 3, 9, 19] as [Int32])
  func roundTrip(level: Int32) throws {
    var compressor = try Compressor()
    var decompressor = try Decompressor()
    var random = SplitMix64(seed: 1)
    for bytes in [[], [7], random.bytes(1000), random.contents(300_000), sentence] {
      let frame = try compressor.compress(bytes, level: level)
      #expect(try decompressor.decompress(frame, limit: bytes.count) == bytes)
    }
    #expect(try compressor.compress(sentence, level: level).count < 100)
  }

  @Test("a frame larger than the limit, or than so few bytes may hold, is refused before anything is allocated")
  func bomb() throws {
    var compressor = try Compressor()
    let frame = try compressor.compress([UInt8](repeating: 0, count: 50_000_000))
    #expect(frame.count < 10_000)
    #expect(code { try opened(frame, limit: 49_999_999) } == .limitExceeded)
    #expect(code { try opened(frame, limit: 50_000_000) } == .limitExceeded)
    let zeros = [UInt8](repeating: 0, count: Limits.inflatedBytes + 1)
    #expect(code { try opened(compressor.compress(zeros)) } == .limitExceeded)
    #expect(try opened(compressor.compress(Array(zeros.dropLast()))) == Array(zeros.dropLast()))
    #expect(!Compressor.pays(try compressor.compress(zeros), for: zeros))
  }

  @Test("a frame that lies about its size is damaged, not obeyed")
  func lyingSize() throws {
    var compressor = try Compressor()
    var frame = try compressor.compress([UInt8](repeating: 1, count: 200))
    // Frame_Content_Size is one byte behind magic and descriptor in a single-segment frame (RFC 8878, 3.1.1.1).
    try #require(frame[5] == 200)
    for size in [0, 100, 199, 201, 255] as [UInt8] {
      frame[5] = size
      #expect(code { try opened(frame) } == .invalidData)
    }
  }

  @Test("a frame that does not state its size is refused, whatever window it asks for")
  func unsized() throws {
    #expect(code { try opened(unsizedFrame) } == .invalidData)
    // Window_Descriptor 0x88 (2^27 bytes), no content size, one empty last block.
    let frame: [UInt8] = [0x28, 0xB5, 0x2F, 0xFD, 0x00, 0x88, 0x01, 0x00, 0x00]
    #expect(code { try opened(frame) } == .invalidData)
    #expect(code { try opened(frame.enumerated().map { $0 == 5 ? 0x40 : $1 }) } == .invalidData)
  }

  @Test("bytes that are not exactly one frame are refused, and no prefix or flipped bit crashes")
  func damage() throws {
    var compressor = try Compressor()
    var random = SplitMix64(seed: 5)
    let bytes = random.contents(3000)
    let frame = try compressor.compress(bytes)
    #expect(code { try opened([]) } == .invalidData)
    #expect(code { try opened([1, 2, 3, 4, 5, 6, 7, 8]) } == .invalidData)
    #expect(code { try opened(frame + [0]) } == .invalidData)
    #expect(code { try opened(frame + frame) } == .invalidData)
    for length in 0..<frame.count { #expect(code { try opened(Array(frame[..<length])) } == .invalidData) }
    for length in 0..<unsizedFrame.count {
      #expect(code { try opened(Array(unsizedFrame[..<length])) } == .invalidData)
    }
    for index in frame.indices {
      var flipped = frame
      flipped[index] ^= 1 << UInt8.random(in: 0..<8, using: &random)
      if let content = try? opened(flipped) { #expect(content.count <= 1 << 20) }
    }
  }
}

@Suite struct EntropyTests {
  private let jpeg = [UInt8](Data(base64Encoded: jpegBase64)!)

  @Test("MOB-35: text, zeros, JSON and base64 are worth compressing")
  func worth() {
    #expect(worthCompressing(sentence))
    #expect(worthCompressing([UInt8](repeating: 0, count: 100_000)))
    #expect(worthCompressing(Array((0..<2000).map { "{\"id\":\($0),\"name\":\"device-\($0 % 7)\"}\n" }.joined().utf8)))
    #expect(worthCompressing(Array(jpegBase64.utf8)))
  }

  @Test("MOB-35: noise, JPEG and what is compressed already are not", arguments: 0..<30)
  func notWorth(seed: UInt64) throws {
    var random = SplitMix64(seed: seed)
    #expect(!worthCompressing(random.bytes(100)))
    #expect(!worthCompressing(random.bytes(Int.random(in: 100...100_000, using: &random))))
    #expect(!worthCompressing(jpeg))
    var compressor = try Compressor()
    let text = (0..<8000).map { _ in "\(Int.random(in: 0...1_000_000, using: &random)) apples; " }.joined()
    #expect(!worthCompressing(try compressor.compress(Array(text.utf8))))
  }

  @Test("BEN-11: texts among photos are worth it, as soon as they are a tenth; a header of a photo is not")
  func mixed() throws {
    var random = SplitMix64(seed: 10)
    var compressor = try Compressor()
    let text = Array(String(repeating: "the door was opened at nine by Anna, ", count: 100).utf8)
    for _ in 0..<50 {
      let noise = random.bytes(20_000)
      let at = random.below(noise.count)
      let frame = Array(noise[..<at]) + text.prefix(2_800) + noise[at...]
      #expect(worthCompressing(frame))
      #expect(try compressor.compress(frame, level: 1).count < frame.count * 95 / 100)
      #expect(!worthCompressing(Array(text.prefix(600)) + noise))
    }
  }

  @Test("SIM-96: nothing under 100 bytes is worth it")
  func short() {
    #expect(!worthCompressing([]))
    #expect(!worthCompressing([UInt8](repeating: 0, count: 99)))
    #expect(worthCompressing([UInt8](repeating: 0, count: 100)))
  }

  @Test("MOB-35: the estimate looks at 1 KiB, all over the input, so that its cost is nothing beside compressing")
  func sample() {
    var random = SplitMix64(seed: 8)
    let noise = random.bytes(1 << 20)
    #expect(EntropyEstimate(of: noise).sampled == 1024)
    #expect(EntropyEstimate(of: noise).bitsPerByte > 7.5)
    #expect(EntropyEstimate(of: [UInt8](repeating: 9, count: 5000)).bitsPerByte == 0)
    #expect(EntropyEstimate(of: []).bitsPerByte == 8)
    #expect(worthCompressing(noise + [UInt8](repeating: 0, count: 1 << 20)))
    #expect(!worthCompressing([UInt8](repeating: 0, count: 600) + noise))
  }
}
