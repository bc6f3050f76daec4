internal import CaravanCrypto
internal import CaravanLaunch
internal import CaravanModel
internal import CaravanRuntime
internal import Glibc

/// The file of somebody who is being let in.
enum CredentialsFile {
  static func exists(_ file: String) -> Bool { unsafe access(file, F_OK) == 0 }

  /// A place for the credentials comes first: without it somebody would be enrolled whom nobody could be.
  /// - Throws: `invalidData` where there is a file, or can be none; what `make` throws, and then no file is left.
  static func write(
    _ file: String, _ make: () async throws(CaravanError) -> Credentials
  ) async throws(CaravanError) {
    let descriptor = unsafe open(file, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
    guard descriptor >= 0 else {
      let reason = unsafe strerror(errno).map { unsafe String(cString: $0) } ?? "error \(errno)"
      throw CaravanError(.invalidData, "cannot write '\(file)': \(reason)")
    }
    close(descriptor)
    do throws(CaravanError) { try TextFile.writeSecret(try await make().rendered, to: file) } catch {
      unsafe unlink(file)
      throw error
    }
  }
}
