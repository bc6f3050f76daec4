internal import Model

extension Merge {
  /// After the last page of a restart: what the server did not show is not there.
  mutating func dropStale(after currentHeight: Seq) {
    let stale = Set(objects.lazy.filter(\.value.isStale).map(\.key))
    for uuid in stale { objects[uuid] = nil }
    upstream.removeAll { stale.contains($0.uuid) }
    assignHeights(after: currentHeight)
  }

  /// How many of U one SYNC_CONTINUE takes: whole objects, at least one.
  func portion() -> Int {
    var (end, objects, bytes) = (0, 0, 0)
    for (index, diff) in upstream.enumerated() {
      if index == 0 || upstream[index - 1].uuid != diff.uuid {
        end = index
        objects += 1
      }
      bytes += diff.byteCount
      let isFull = objects > DiffLimits.objectsPerContinue || bytes > DiffLimits.bytesPerContinue
      if isFull, end > 0 { return end }
    }
    return upstream.count
  }
}
