/// SIM-70, Table 3(a): where a sync stood when its connection went, for whoever counts such ends. What is done about it
/// is the same as when nothing was cut off: what has no answer is sent or asked for again, and what is here stays.
public enum Disruption: String, Sendable, Hashable, CaseIterable {
  /// Up: nothing is in flight.
  case u1 = "U1"
  /// Up: sent, and no answer seen. The same bytes go again under the same op id, for the answer may be all that was
  /// lost (E9).
  case u2 = "U2"
  /// Up: the answer was seen, and it is whole.
  case u3 = "U3"
  /// Up: the answer was seen, an object of the cloud's copy in conflict is still arriving. The part that is here stays,
  /// for chunks are known by their content.
  case u4 = "U4"
  /// Down: nobody has said that there is something new.
  case d1 = "D1"
  /// Down: notified, and not asked yet.
  case d2 = "D2"
  /// Down: asked, and no answer seen. It is asked again from the token that was not moved on.
  case d3 = "D3"
  /// Down: the answer was seen, and it is whole.
  case d4 = "D4"
  /// Down: the answer was seen, an object of it is still arriving.
  case d5 = "D5"

  /// What has come of a question to the cloud.
  public enum Answer: Sendable, Hashable, CaseIterable {
    case missing
    case whole
    /// Objects it names are still arriving.
    case lacksObjects
  }

  public static func upstream(inFlight: Bool, _ answer: Answer) -> Disruption {
    switch (inFlight, answer) {
    case (false, .missing): .u1
    case (true, .missing): .u2
    case (_, .whole): .u3
    case (_, .lacksObjects): .u4
    }
  }

  public static func downstream(notified: Bool, asked: Bool, _ answer: Answer) -> Disruption {
    switch (asked, answer) {
    case (false, _): notified ? .d2 : .d1
    case (true, .missing): .d3
    case (true, .whole): .d4
    case (true, .lacksObjects): .d5
    }
  }
}
