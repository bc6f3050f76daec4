extension Checker {
  static let groupsWhole = Checker("UNI-05 of a group all is seen or nothing") { history in
    history.groups.compactMap { group in
      if group.seen == group.size || group.seen == 0 && !group.isCommitted { return nil }
      return "\(group.name) has \(group.size) records, \(group.seen) were seen"
        + (group.isCommitted ? " after it had been committed" : "")
    }
  }

  static let refusalsSeen = Checker("CK-102 a refusal is in sight, drops nothing and ends by itself") { history in
    history.refusals.compactMap { refusal in
      if !refusal.isVisible { return "\(refusal.device) does not say that there is no room" }
      if !refusal.isKept { return "\(refusal.device) dropped a row that there was no room for" }
      return refusal.isResumed ? nil : "\(refusal.device) does not send a row for which there is room again"
    }
  }

  /// What an app was promised by period and delay tolerance is kept while the link permits it.
  static let deadlinesMet = Checker("I12 deadlines are met when the link permits") { history in
    history.promises.compactMap { promise in
      if let took = promise.took, took <= promise.allowed { return nil }
      let took = promise.took.map { "took \($0) ms" } ?? "never came"
      return "\(promise.tag) \(took), its table allows \(promise.allowed) ms"
    }
  }

  static let nothingLeaks = Checker("I14 answers about hidden and absent zones are the same bytes") { history in
    history.secrets.compactMap { answer in
      answer.ofHidden == answer.ofAbsent ? nil : "a stranger can tell a zone that is hidden by its \(answer.question)"
    }
  }

  static let lossBounded = Checker("I11 no more is lost than may be") { history in
    history.samples.compactMap { samples in
      let lost = samples.accepted - samples.arrived
      let all = samples.accepted + samples.unknown
      if lost * 1_000 <= samples.maximumPermille * all { return nil }
      return "\(samples.device) lost \(lost) of \(all) samples, \(samples.maximumPermille) of 1000 may be"
    }
  }

  /// Who lacked a tombstone that was purged was reset: nobody keeps what was deleted.
  static let purgesSeen = Checker("I17 no tombstone is purged that somebody lacks, without a reset") { history in
    history.latecomers.flatMap { reader in
      let cloud = Dictionary((history.end.cloud[reader.place] ?? []).map { ($0.row, $0.tag) }) { first, _ in first }
      return Set(cloud.keys).union(reader.rows.keys).sorted().compactMap { row -> String? in
        guard cloud[row] != reader.rows[row] else { return nil }
        let (holds, held) = (reader.rows[row].map { "\($0)" } ?? "nothing", cloud[row].map { "\($0)" } ?? "nothing")
        return "\(reader.place): a reader that was away holds \(holds) as row \(row), it is \(held)"
      }
    }
  }
}
