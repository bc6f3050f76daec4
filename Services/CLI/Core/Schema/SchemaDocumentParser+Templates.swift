import CaravanModel

// A template of subscriptions, whose words are names elsewhere: a field may be called `title`.
extension SchemaDocumentParser {
  /// Behind TEMPLATE.
  mutating func template() throws(CaravanError) -> SubscriptionTemplate {
    let name = try name("the template's name")
    try keyword("ON", "ON and a record type after template '\(name)'")
    var template = SubscriptionTemplate(name: name, type: try self.name("the template's record type"), text: nil)
    var said: Set<String> = []
    while true {
      let start = tokenStart
      guard let clause = try clause(of: &template) else { break }
      guard said.insert(clause).inserted else {
        throw refusal(at: start, "template '\(name)' says \(clause) twice: leave one out")
      }
    }
    do throws(CaravanError) { try template.shows.check() } catch { throw refusal(at: tokenStart, error.message) }
    return template
  }

  /// - Returns: what the clause is; nil: there are no more.
  private mutating func clause(of template: inout SubscriptionTemplate) throws(CaravanError) -> String? {
    if try takes("WHERE") {
      template.text = try text("a query")
      return "WHERE"
    }
    if try takes("EVENTS") {
      template.events = try events()
      return "EVENTS"
    }
    if try takes("TITLE") {
      guard try takes("KEY") else {
        template.shows.title = try text("KEY, or a title")
        return "TITLE"
      }
      (template.shows.titleKey, template.shows.titleArguments) = try key()
      return "TITLE KEY"
    }
    if try takes("BODY") {
      guard try takes("KEY") else {
        template.shows.body = try text("KEY, or a text")
        return "BODY"
      }
      (template.shows.bodyKey, template.shows.bodyArguments) = try key()
      return "BODY KEY"
    }
    if try takes("BADGE") {
      template.shows.badges = true
      return "BADGE"
    }
    if try takes("SOUND") {
      template.shows.sound = try text("a sound's name")
      return "SOUND"
    }
    if try takes("FIELDS") {
      template.shows.fields = try fieldNames()
      return "FIELDS"
    }
    return nil
  }

  private mutating func events() throws(CaravanError) -> StandingQuery.Events {
    var events: StandingQuery.Events = []
    repeat {
      guard let word = StandingQuery.Events.words.first(where: { isKeyword($0.word.uppercased()) }) else {
        throw unexpected("enters, leaves or changes")
      }
      _ = try takes(word.word.uppercased())
      events.insert(word.event)
    } while try comma()
    precondition(!events.isEmpty, "a list of events was read that has none")
    return events
  }

  private mutating func key() throws(CaravanError) -> (key: String, arguments: [String]) {
    let key = try text("a key")
    guard try takesSymbol("(") else { return (key, []) }
    let arguments = try fieldNames()
    try symbol(")", "',' or ')' after a field")
    return (key, arguments)
  }

  private mutating func fieldNames() throws(CaravanError) -> [String] {
    var names: [String] = []
    repeat {
      names.append(try name("a field's name"))
      guard names.count <= Limits.fieldsPerType else {
        throw CaravanError(.limitExceeded, "a list of fields has more than \(Limits.fieldsPerType): leave some out")
      }
    } while try comma()
    precondition(!names.isEmpty, "a list of fields was read that has none")
    return names
  }
}
