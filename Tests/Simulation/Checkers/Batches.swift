extension Checker {
  /// What an app has changed together comes to the cloud in one commit, as far as it comes there: a row that is changed
  /// again before that is another change, and of one in conflict the app may take what the cloud has.
  static let batchesWhole = Checker("REC-23 what was changed together is committed together") { history in
    history.batches.compactMap { batch in
      let commits = batch.compactMap { history.commits[$0] }
      guard Set(commits).count > 1 else { return nil }
      return "\(batch) came in the commits \(commits)"
    }
  }
}
