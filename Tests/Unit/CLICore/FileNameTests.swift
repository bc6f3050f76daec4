import CaravanCLICore
import Testing

/// What others call their records, as names of files here.
@Suite struct FileNameTests {
  @Test("TRU-04: no name of a record leaves the folder that objects are written to, or hides there")
  func names() {
    let expected = [
      "message-7": "message-7", "a.b_C": "a.b_C", "../../.bashrc": "%2E.%2F..%2F.bashrc", ".hidden": "%2Ehidden",
      "/etc/passwd": "%2Fetc%2Fpasswd", "é": "%C3%A9", "a b": "a%20b", "%2F": "%252F", "\u{1}": "%01",
    ]
    for (name, file) in expected { #expect(FileName.of(name) == file) }
  }
}
