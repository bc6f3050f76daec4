import CaravanModel
import CaravanTestKit
import Glibc
import Testing

@testable import CaravanRuntime

/// Goal: a secret is its owner's alone, goes nowhere else than it should, and is there after the power was lost if
/// whoever wrote it was told so. Method: files as an attacker would prepare them, and a tap that hears what the disk is
/// asked in which order.
@Suite("Secrets on the disk") struct SecretFileTests {
  private static func mode(_ path: String) -> mode_t {
    var status = stat()
    return lstat(path, &status) == 0 ? status.st_mode & 0o7777 : 0
  }

  private final class Order: DiskTap {
    let steps = Mutex<[String]>([])
    let refusesSync: Bool
    let path: String

    init(_ path: String, refusesSync: Bool = false) {
      self.path = path
      self.refusesSync = refusesSync
    }

    func allows(_ change: DiskChange, of file: String) -> Bool {
      let folder = String(path.dropLast("/key".count))
      let what = file == folder ? "folder" : file == path ? "file" : "draft"
      let isThere = (try? TextFile.read(path)) == "new"
      steps.withLock { steps in
        switch change {
        case .write: steps.append("write \(what)")
        case .sync: steps.append("sync \(what)\(isThere ? ", renamed" : "")")
        default: steps.append("else")
        }
      }
      return change != .sync || !refusesSync
    }
  }

  @Test("TRU-06: a secret is synced before it has its name, and its folder before anybody relies on it")
  func order() async throws {
    try await withTemporaryDirectory { directory in
      let tap = Order("\(directory)/key")
      try TextFile.writeSecret("new", to: tap.path, tap: tap)
      #expect(tap.steps.withLock { $0 } == ["write draft", "sync draft", "sync folder, renamed"])
      #expect(Self.mode(tap.path) == 0o600)
    }
  }

  @Test("TRU-06: a disk that refuses leaves the old secret, and no draft")
  func refusing() async throws {
    try await withTemporaryDirectory { directory in
      try TextFile.writeSecret("old", to: "\(directory)/key")
      let tap = Order("\(directory)/key", refusesSync: true)
      #expect(throws: CaravanError.self) { try TextFile.writeSecret("new", to: tap.path, tap: tap) }
      #expect(try TextFile.read(tap.path) == "old")
      #expect(try Directories.names(in: directory) == ["key"])
    }
  }

  @Test("TRU-06: a link in the way is replaced, and what it leads to is not written to")
  func link() async throws {
    try await withTemporaryDirectory { directory in
      let (victim, path) = ("\(directory)/victim", "\(directory)/key")
      try TextFile.writeSecret("precious", to: victim)
      symlink(victim, path)
      // Names that a draft may have.
      for number in 0..<10_000 { symlink(victim, "\(path).\(getpid()).\(number).new") }
      symlink(victim, "\(path).new")
      try TextFile.writeSecret("secret", to: path)
      #expect(try TextFile.read(victim) == "precious")
      #expect(try TextFile.read(path) == "secret" && Self.mode(path) == 0o600)
    }
  }

  @Test("TRU-06: a directory that is made is synced in the one above, step by step")
  func directories() async throws {
    try await withTemporaryDirectory { directory in
      final class Folders: DiskTap {
        let synced = Mutex<[String]>([])
        func allows(_ change: DiskChange, of path: String) -> Bool {
          synced.withLock { $0.append(path) }
          return change == .sync
        }
      }
      let tap = Folders()
      try Directories.make("\(directory)/a/b", tap: tap)
      #expect(tap.synced.withLock { $0 } == [directory, "\(directory)/a"])
      try Directories.make("\(directory)/a/b", tap: tap)
      #expect(tap.synced.withLock { $0.count } == 2)
    }
  }

  @Test("TRU-06: what is given to another user has no second name, and no link is followed")
  func giving() async throws {
    try await withTemporaryDirectory { path in
      try TextFile.writeSecret("a", to: "\(path)/a")
      let directory = try HeldDirectory(path)
      try directory.give("a", to: geteuid())
      Glibc.link("\(path)/a", "\(path)/b")
      symlink("\(path)/a", "\(path)/c")
      for name in ["a", "b", "c"] {
        #expect(throws: CaravanError.self) { try directory.give(name, to: geteuid()) }
      }
    }
  }
}
