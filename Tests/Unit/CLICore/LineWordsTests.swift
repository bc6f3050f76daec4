import CaravanCLICore
import CaravanModel
import Testing

@Suite("Lines of a batch, cut into words")
struct LineWordsTests {
  @Test("blanks separate, quotes hold together, a backslash takes the next as it is")
  func words() throws {
    let table: [(String, [String])] = [
      ("", []), ("  \t ", []), ("# a comment", []), ("write a=1  b=2", ["write", "a=1", "b=2"]),
      ("a='x y' \"it's\"", ["a=x y", "it's"]), (#"a="say \"x\"" b=\ c"#, [#"a=say "x""#, "b= c"]),
      ("a='#1' #b", ["a=#1", "#b"]), ("'' a=''", ["", "a="]), (#"a='\n'"#, [#"a=\n"#]), ("a=1\r", ["a=1"]),
    ]
    for (line, words) in table { #expect(try LineWords.split(line) == words, "\(line)") }
  }

  @Test("a quote without an end and a backslash at the end are refused", arguments: ["a='x", "\"", "a\\", "\"\\"])
  func refused(line: String) {
    #expect { try LineWords.split(line) } throws: { ($0 as? CaravanError)?.code == .invalidData }
  }
}
