internal import CaravanModel
internal import CaravanWire

/// What the apps of a device write over some time.
struct FrameTraffic: Sendable {
  let name: String
  let apps: [String]
  let items: [RadioItem]

  /// The pushes of each stretch of time in which something was written, an app's rows in one.
  func frames(every seconds: Double) -> [[Push]] {
    var frames: [Int: [Int: [CaravanWire.Mutation]]] = [:]
    for (index, item) in items.enumerated() {
      let name = "01hf7yat00" + String(String(index + 1_000_000, radix: 32).suffix(16))
      let row = CaravanWire.Mutation(name: name, kind: .save, basedOn: 0, type: UInt32(item.app + 1), body: item.body)
      frames[Int(item.at / seconds), default: [:]][item.app, default: []].append(row)
    }
    return frames.sorted { $0.key < $1.key }.map { minute, byApp in
      byApp.sorted { $0.key < $1.key }.map { app, rows in
        Push(container: apps[app], zone: "data", op: UInt64(minute), opFloor: UInt64(minute), mutations: rows)
      }
    }
  }

  /// A car's sensors, photos and notes (BEN-04).
  static func drive(_ workload: RadioWorkload) -> FrameTraffic {
    FrameTraffic(name: "car_photos_notes", apps: ["car", "photos", "notes"], items: workload.items)
  }

  /// Twenty apps, each with a short row now and then: what a device mostly has to say.
  static func chatter(hours: Double, seed: UInt64) -> FrameTraffic {
    var dice = RadioDice(seed: seed)
    var items: [RadioItem] = []
    for second in 0..<Int(hours * 3600) where dice.below(4) == 0 {
      let text = (0..<(4 + dice.below(12))).map { _ in words[dice.below(words.count)] }.joined(separator: " ")
      let record = RecordFields([
        1: .text("2026-11-\(10 + second / 86_400)T\(second / 3600):\(second / 60 % 60):\(second % 60)Z"),
        2: .text(text), 3: .integer(Int64(dice.below(1_000))), 4: .real(Double(dice.below(10_000)) / 100),
      ])
      items.append(RadioItem(app: dice.below(20), at: Double(second), body: record.body))
    }
    return FrameTraffic(name: "twenty_apps", apps: (0..<20).map { "app\($0)" }, items: items)
  }

  /// Texts beside what is compressed already, more of the latter.
  static func thumbnails(hours: Double, seed: UInt64) -> FrameTraffic {
    var chatter = chatter(hours: hours, seed: seed).items
    var dice = RadioDice(seed: seed + 1)
    for second in stride(from: 0.0, to: hours * 3600, by: 15) {
      let record = RecordFields([1: .text("thumb\(Int(second)).jpg"), 2: .data(dice.bytes(2_000 + dice.below(6_000)))])
      chatter.append(RadioItem(app: 20, at: second, body: record.body))
    }
    return FrameTraffic(
      name: "with_thumbnails", apps: (0..<20).map { "app\($0)" } + ["thumbs"], items: chatter)
  }

  private static let words = [
    "temperature", "pressure", "door", "open", "closed", "delivered", "to", "the", "next", "stop", "is", "late", "by",
    "minutes", "battery", "low", "signal", "ok", "error", "retry", "meeting", "moved", "please", "call", "back",
  ]
}
