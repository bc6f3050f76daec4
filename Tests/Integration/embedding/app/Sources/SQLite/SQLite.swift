/// The app's own, under a name that many packages have.
public func name() -> String { "SQLite" }
