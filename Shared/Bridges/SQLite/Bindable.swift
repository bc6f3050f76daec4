public import CaravanModel

/// What a statement's parameter can be.
public protocol Bindable {
  func bind(to statement: Statement, at index: Int32) throws(CaravanError)
}

extension Int64: Bindable {
  public func bind(to statement: Statement, at index: Int32) throws(CaravanError) {
    try statement.bind(self, at: index)
  }
}

extension Int: Bindable {
  public func bind(to statement: Statement, at index: Int32) throws(CaravanError) {
    try statement.bind(Int64(self), at: index)
  }
}

extension UInt32: Bindable {
  public func bind(to statement: Statement, at index: Int32) throws(CaravanError) {
    try statement.bind(Int64(self), at: index)
  }
}

/// Kept bit by bit in SQLite's signed integers: `Row.unsigned` gives back every value; order holds below 2^63.
extension UInt64: Bindable {
  public func bind(to statement: Statement, at index: Int32) throws(CaravanError) {
    try statement.bind(Int64(bitPattern: self), at: index)
  }
}

extension Bool: Bindable {
  public func bind(to statement: Statement, at index: Int32) throws(CaravanError) {
    try statement.bind(self ? Int64(1) : 0, at: index)
  }
}

extension Double: Bindable {
  public func bind(to statement: Statement, at index: Int32) throws(CaravanError) {
    try statement.bind(self, at: index)
  }
}

extension String: Bindable {
  public func bind(to statement: Statement, at index: Int32) throws(CaravanError) {
    try statement.bind(self, at: index)
  }
}

extension [UInt8]: Bindable {
  public func bind(to statement: Statement, at index: Int32) throws(CaravanError) {
    try statement.bind(self, at: index)
  }
}

extension ChunkHash: Bindable {
  public func bind(to statement: Statement, at index: Int32) throws(CaravanError) {
    try statement.bind(bytes, at: index)
  }
}

extension Optional: Bindable where Wrapped: Bindable {
  public func bind(to statement: Statement, at index: Int32) throws(CaravanError) {
    if let self { try self.bind(to: statement, at: index) } else { try statement.bindNull(at: index) }
  }
}
