internal import CaravanHTTPServer
internal import CaravanModel
internal import CaravanRuntime
internal import Glibc

/// The server's certificate and its key, as files that may be replaced at any time.
public struct CertificateFiles: Sendable {
  private let certificate: String
  private let key: String

  /// - Parameters:
  ///   - certificate: PEM; those that lead to its authority follow it.
  ///   - key: PEM.
  public init(certificate: String, key: String) {
    self.certificate = certificate
    self.key = key
  }

  /// - Throws: `invalidData` naming the files when they cannot be read or do not belong together.
  func read() throws(CaravanError) -> HTTPCertificate {
    let (first, second) = (try TextFile.read(certificate), try TextFile.read(key))
    do { return try HTTPCertificate(certificate: first, key: second) } catch {
      throw CaravanError(.invalidData, "'\(certificate)' and '\(key)': \(error.message)")
    }
  }

  /// Tells one state of the files from another.
  struct Stamp: Sendable, Equatable {
    fileprivate let numbers: [Int]
  }

  var stamp: Stamp { Stamp(numbers: [certificate, key].flatMap(Self.numbers)) }

  private static func numbers(_ path: String) -> [Int] {
    var status = stat()
    guard unsafe stat(path, &status) == 0 else { return [] }
    return [
      Int(status.st_ino), Int(status.st_size), status.st_mtim.tv_sec, status.st_mtim.tv_nsec, status.st_ctim.tv_nsec,
    ]
  }
}

/// Shows new connections the certificate that the files hold now. What cannot be used is logged, and the old one stays.
struct CertificateWatch: Sendable {
  let files: CertificateFiles
  let server: HTTPServer
  let host: Host

  /// - Parameter stamp: of the files that the server has.
  func run(since stamp: CertificateFiles.Stamp) async {
    var known = stamp
    while (try? await host.clock.sleep(for: GatewayLimits.certificatePeriod)) != nil {
      let now = files.stamp
      guard now != known else { continue }
      known = now
      do throws(CaravanError) {
        server.use(try files.read())
        host.log.info("the certificate was replaced")
      } catch {
        host.log.error("the new certificate cannot be used, the old one stays", [.error: error.message])
      }
    }
  }
}
