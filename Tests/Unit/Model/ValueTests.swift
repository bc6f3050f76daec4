import CaravanModel
import Testing

/// Goal: an app takes out of a cell what it has put in. Method: each kind of value, asked as each kind.
@Suite struct ValueTests {
  @Test("CK-07: a value is given as what it is, whole numbers as any number, and as nothing else")
  func kinds() {
    let values: [Value] = [.null, .text("a"), .integer(3), .real(2.5), .data([1]), .list([.text("a")])]
    #expect(values.map(\.textValue) == [nil, "a", nil, nil, nil, nil])
    #expect(values.map(\.integerValue) == [nil, nil, 3, nil, nil, nil])
    #expect(values.map(\.realValue) == [nil, nil, 3, 2.5, nil, nil])
    #expect(values.map(\.dataValue) == [nil, nil, nil, nil, [1], nil])
  }
}
