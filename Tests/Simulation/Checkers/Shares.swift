extension Checker {
  /// Of a table that keeps what a query asks for nothing else is seen, but for what the cloud does not have yet; and
  /// what is local only stays so.
  static let sharesKept = Checker("UNI-15 a table shows what it is to keep, and its own changes") { history in
    history.strays
      + history.readings.flatMap { reading in
        reading.rows.compactMap { row -> String? in
          guard row.isClean, let number = history.writes[row.tag]?.number, !reading.share.shows(number) else {
            return nil
          }
          return "\(reading.device) reads \(row.tag) in \(reading.place), whose \(number) is none of \(reading.share)"
        }
      }
  }
}

extension History {
  /// What the device is to have of the place in the end.
  func share(of cloud: [SeenRow], at place: Place, on device: String, here: [SeenRow]) -> [SeenRow] {
    let rows = cloud.map { Share.Row(id: $0.row, seq: $0.seq, number: writes[$0.tag]?.number) }
    let kept = kept(of: rows, at: place, on: device, here: Set(here.map(\.row)))
    return cloud.filter { kept.contains($0.row) }
  }

  /// Which of the cloud's rows of the place the device has when all is quiet.
  /// - Parameter here: rows that it has.
  func kept(of cloud: [Share.Row], at place: Place, on device: String, here: Set<String>) -> Set<String> {
    guard let share = shares[device]?[place]?.last else { return Set(cloud.map(\.id)) }
    let taken = decisions.lazy.filter { $0.device == device && $0.row.place == place && $0.choice == .theirs }
    return share.kept(
      of: cloud, here: here, deletions: versions.count { $0.tag == nil && $0.row.place == place },
      taken: Set(taken.map(\.row.row)))
  }
}
