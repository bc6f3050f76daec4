/// What one user's apps write, in two runs of a seed that must look the same to everybody else (TRU-01): each letter,
/// digit and byte of the one run is another in the other, and nothing else differs. All of it comes out of the same
/// draws, has the same length, repeats itself at the same places and is as hard to pack.
struct Secret: Sendable, Hashable {
  let user: String
  /// In one of both runs the apps write what the dice say.
  let isOther: Bool
  /// Numbers of rows say what devices keep of a table (UNI-15), so they are no secret there.
  var hasNumbers = true

  /// - Parameter seed: says whose it is.
  init(seed: UInt64, among users: [String], isOther: Bool) {
    var dice = Dice(seed: seed, "secret")
    user = dice.pick(users)
    self.isOther = isOther
  }

  func bytes(_ bytes: [UInt8]) -> [UInt8] { isOther ? bytes.map { $0 &* 167 &+ 91 } : bytes }

  /// Names change their order as well.
  func text(_ text: String) -> String {
    isOther ? String(decoding: text.utf8.map(Self.other), as: UTF8.self) : text
  }

  private static func other(_ character: UInt8) -> UInt8 {
    func turned(_ range: ClosedRange<UInt8>, by factor: Int) -> UInt8 {
      range.lowerBound + UInt8((Int(character - range.lowerBound) * factor + 5) % range.count)
    }
    return switch character {
    case UInt8(ascii: "0")...UInt8(ascii: "9"): turned(UInt8(ascii: "0")...UInt8(ascii: "9"), by: 7)
    case UInt8(ascii: "a")...UInt8(ascii: "z"): turned(UInt8(ascii: "a")...UInt8(ascii: "z"), by: 15)
    case UInt8(ascii: "A")...UInt8(ascii: "Z"): turned(UInt8(ascii: "A")...UInt8(ascii: "Z"), by: 15)
    default: character
    }
  }

  /// One that takes as many bytes, however it is written.
  func number(_ number: Int64) -> Int64 {
    guard isOther, hasNumbers else { return number }
    for (low, high) in [(0, 64), (64, 128), (128, 1_000)] as [(Int64, Int64)] where low..<high ~= number {
      return low + high - 1 - number
    }
    return number
  }
}
