internal import CaravanModel

extension Merge {
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
