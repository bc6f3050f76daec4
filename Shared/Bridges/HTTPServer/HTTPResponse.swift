/// What a handler answers. The server adds `date`, `content-length` and, where needed, `connection`.
public struct HTTPResponse: Sendable, Equatable {
  /// 200 ... 599.
  public var status: Int
  public var headers: HTTPHeaders
  public var body: [UInt8]

  public init(status: Int, headers: HTTPHeaders = [:], body: [UInt8] = []) {
    precondition((200...599).contains(status), "an HTTP status is 200 to 599, is \(status)")
    self.status = status
    self.headers = headers
    self.body = body
  }

  /// One line of plain text.
  public static func text(status: Int, _ line: String, headers: HTTPHeaders = [:]) -> HTTPResponse {
    var headers = headers
    headers["content-type"] = "text/plain; charset=utf-8"
    return HTTPResponse(status: status, headers: headers, body: Array((line + "\n").utf8))
  }
}
