/// Something that is about to happen to a file.
public enum DiskChange: Sendable, Hashable {
  case write([UInt8], at: Int)
  /// Cut off, or grown with zeros.
  case resize(to: Int)
  /// The bytes read as zeros from now on, and take no space.
  case release(Range<Int>)
  /// What came before survives a power cut once this is over.
  case sync
  case remove
}

/// Sees every change of the files below it before it happens, and may refuse it: so tests break a disk, kill a process
/// between two writes, or cut the power. Without a tap nothing is asked, and nothing is copied.
public protocol DiskTap: AnyObject, Sendable {
  /// - Returns: false: the change does not happen, and whoever wanted it is told that the disk refuses.
  func allows(_ change: DiskChange, of path: String) -> Bool
}
