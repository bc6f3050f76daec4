/// `caravan app --socket P --app A write T …`: flags of the app may stand before its command's word.
public enum AppArguments {
  /// The same with the word in front, where `CommandSet` looks for it.
  /// - Parameter valued: flags that take a value.
  public static func wordFirst(_ arguments: [String], valued: Set<String>) -> [String] {
    var rest = arguments[...]
    var flags: [String] = []
    while let next = rest.first, next.hasPrefix("--"), next != "--" {
      rest.removeFirst()
      flags.append(next)
      if valued.contains(String(next.dropFirst(2))), let value = rest.popFirst() { flags.append(value) }
    }
    guard let word = rest.popFirst() else { return flags }
    let all = [word] + flags + rest
    precondition(all.count == arguments.count, "an argument was lost, or stands twice")
    return all
  }
}
