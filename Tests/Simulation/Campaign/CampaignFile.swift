public import CaravanModel
internal import CaravanTestKit
internal import Foundation

/// Where a campaign is kept: one file, which is replaced as a whole after every cluster, and the one before it.
///
///     caravan-campaign 1 CHECKSUM
///     {…}
public struct CampaignFile: Sendable {
  private static let magic = "caravan-campaign 1"

  public let path: String
  public var former: String { "\(path).former" }

  public init(directory: String) { path = "\(directory)/campaign" }

  private struct Content: Codable {
    var seconds: Double
    var played: Int
    var nextSeed: UInt64
    var asked: UInt64
    var coverage: [Int]
    var kept: [Campaign.Kept]
    var failures: [Campaign.Failure]
  }

  // MARK: The text

  public static func text(_ campaign: Campaign) throws -> String {
    let content = Content(
      seconds: campaign.seconds, played: campaign.played, nextSeed: campaign.nextSeed, asked: campaign.asked,
      coverage: campaign.coverage.features, kept: campaign.kept, failures: campaign.failures)
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys]
    let body = String(decoding: try encoder.encode(content), as: UTF8.self)
    return "\(magic) \(checksum(body))\n\(body)\n"
  }

  /// - Throws: `invalidData` if it is damaged.
  public static func campaign(_ text: String) throws(CaravanError) -> Campaign {
    let lines = text.split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
    guard lines.count == 3, lines[0] == "\(magic) \(checksum(lines[1]))", lines[2].isEmpty,
      let content = try? JSONDecoder().decode(Content.self, from: Data(lines[1].utf8))
    else { throw CaravanError(.invalidData, "it is damaged, or of another release") }
    var campaign = Campaign(from: content.nextSeed)
    (campaign.seconds, campaign.played, campaign.asked) = (content.seconds, content.played, content.asked)
    campaign.coverage = Coverage(content.coverage)
    (campaign.kept, campaign.failures) = (content.kept, content.failures)
    return campaign
  }

  private static func checksum(_ body: String) -> String {
    var digest = Digest()
    digest.add(body)
    return String(digest.value, radix: 16)
  }

  // MARK: The file

  /// - Returns: nil if there is none; and what is to be said of a damaged one, for which the one before it stands.
  public func read() throws(CaravanError) -> (campaign: Campaign?, complaint: String?) {
    guard FileManager.default.fileExists(atPath: path) || FileManager.default.fileExists(atPath: former) else {
      return (nil, nil)
    }
    if let text = Self.content(path), let campaign = try? Self.campaign(text) { return (campaign, nil) }
    if let text = Self.content(former), let campaign = try? Self.campaign(text) {
      return (campaign, "\(path) is damaged: the campaign goes on from \(former), a cluster earlier")
    }
    throw CaravanError(.invalidData, "\(path) and \(former) are damaged: move them away to begin a new campaign")
  }

  private static func content(_ path: String) -> String? { try? String(contentsOfFile: path, encoding: .utf8) }

  /// Whatever happens meanwhile, a whole one is there.
  public func write(_ campaign: Campaign) throws {
    try Self.replace(path, with: try Self.text(campaign), keeping: former)
  }

  /// - Parameter former: where what was there goes; nil: nowhere.
  public static func replace(_ path: String, with text: String, keeping former: String? = nil) throws {
    let new = "\(path).new"
    guard FileManager.default.createFile(atPath: new, contents: nil), let file = FileHandle(forWritingAtPath: new)
    else { throw CaravanError(.unavailable, "\(new) cannot be written: look at its directory") }
    try file.write(contentsOf: Data(text.utf8))
    try file.synchronize()
    try file.close()
    if let former, FileManager.default.fileExists(atPath: path) {
      try? FileManager.default.removeItem(atPath: former)
      try FileManager.default.linkItem(atPath: path, toPath: former)
    }
    guard unsafe rename(new, path) == 0 else {
      throw CaravanError(.unavailable, "\(new) cannot become \(path): look at its directory")
    }
  }
}
