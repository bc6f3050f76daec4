public import CaravanEncoding

/// One thing the doctor looked at: how it is, what that means, and what to do.
public struct Finding: Sendable, Hashable {
  public enum Level: String, Sendable, Hashable, CaseIterable {
    case ok
    /// Works, and may not for long, or is not as it should be.
    case warning
    /// Keeps the device from doing its work.
    case problem
  }

  /// What was looked at.
  public enum Subject: String, Sendable, Hashable, CaseIterable {
    case agent, credentials, clock, broker, certificate, data, store, files, cloud
  }

  public let level: Level
  public let subject: Subject
  public let meaning: String
  /// What to do; nil: nothing.
  public let advice: String?

  public init(_ level: Level, _ subject: Subject, _ meaning: String, advice: String? = nil) {
    precondition((advice == nil) == (level == .ok), "a \(level.rawValue) with advice, or without")
    self.level = level
    self.subject = subject
    self.meaning = meaning
    self.advice = advice
  }

  static func ok(_ subject: Subject, _ meaning: String) -> Finding { Finding(.ok, subject, meaning) }

  static func warning(_ subject: Subject, _ meaning: String, _ advice: String) -> Finding {
    Finding(.warning, subject, meaning, advice: advice)
  }

  static func problem(_ subject: Subject, _ meaning: String, _ advice: String) -> Finding {
    Finding(.problem, subject, meaning, advice: advice)
  }

  /// One line.
  public var text: String {
    func padded(_ word: String, _ width: Int) -> String {
      precondition(word.count <= width, "'\(word)' is wider than its column")
      return word + String(repeating: " ", count: width - word.count)
    }
    let line = "\(padded(level.rawValue, 7))  \(padded(subject.rawValue, 11))  \(meaning)"
    let said = advice.map { "\(line): \($0)" } ?? line
    return String(said.map { $0.isNewline ? " " : $0 })
  }

  public var json: JSON {
    [
      "level": .string(level.rawValue), "subject": .string(subject.rawValue), "meaning": .string(meaning),
      "advice": advice.map(JSON.string) ?? .null,
    ]
  }
}
