internal import CaravanModel
internal import CaravanRuntime

/// Bytes of a connection as they come, made into frames. The rest of a long message, and of the data behind one, comes
/// straight to where it stays; all else in portions.
struct FrameIntake {
  private static let portionBytes = 16 << 10

  /// Of a frame: what is here of so many bytes.
  private struct Part {
    var bytes: [UInt8] = []
    var count: Int
    var missing: Int { count - bytes.count }

    init(count: Int) {
      self.count = count
      bytes.reserveCapacity(count)
    }

    mutating func take(_ rest: inout ArraySlice<UInt8>) {
      let part = rest.prefix(missing)
      bytes += part
      rest = rest.dropFirst(part.count)
    }

    /// - Returns: what `receive` returned: how many bytes, or no positive number.
    mutating func fill(_ receive: (UnsafeMutableBufferPointer<UInt8>) -> Int) -> Int {
      var got = 0
      bytes.append(addingCapacity: missing) { span in
        unsafe span.withUnsafeMutableBufferPointer { buffer, filled in
          got = unsafe receive(buffer)
          filled += max(0, got)
        }
      }
      return got
    }
  }

  /// The longest message taken, its data included.
  var frameBytes: Int
  private var frames = Ring<Frame>()
  private var portion = [UInt8](repeating: 0, count: Self.portionBytes)
  private var head = Part(count: Frame.headBytes)
  private var message = Part(count: 0)
  private var data = Part(count: 0)

  /// Of the frames that wait, with their heads.
  private(set) var bytes = 0
  /// Why nothing more can be understood; what came before it still counts.
  private(set) var failure: CaravanError?

  init(frameBytes: Int) { self.frameBytes = frameBytes }

  /// All that is here.
  var heldBytes: Int { bytes + message.bytes.count + data.bytes.count }

  /// Whether the last frame is not all here.
  var isInFrame: Bool { !head.bytes.isEmpty }

  mutating func popFirst() -> Frame? {
    guard let frame = frames.popFirst() else { return nil }
    bytes -= Self.bytes(of: frame)
    return frame
  }

  mutating func clear() { self = FrameIntake(frameBytes: frameBytes) }

  /// Receives once.
  /// - Parameter receive: puts bytes into a buffer, and returns how many, or no positive number.
  /// - Returns: what it returned, and how many there was room for.
  mutating func receive(_ receive: (UnsafeMutableBufferPointer<UInt8>) -> Int) -> (got: Int, room: Int) {
    defer { finishIfWhole() }
    if message.missing >= Self.portionBytes {
      let room = message.missing
      return (unsafe message.fill(receive), room)
    }
    if message.missing == 0, data.missing >= Self.portionBytes {
      let room = data.missing
      return (unsafe data.fill(receive), room)
    }
    let got = unsafe portion.withUnsafeMutableBufferPointer { unsafe receive($0) }
    add(portion.prefix(max(0, got)))
    return (got, portion.count)
  }

  private mutating func add(_ new: ArraySlice<UInt8>) {
    var rest = new
    while failure == nil, !rest.isEmpty {
      if head.missing > 0 {
        head.take(&rest)
        if head.missing == 0 { begin() }
      }
      message.take(&rest)
      data.take(&rest)
      finishIfWhole()
    }
  }

  private mutating func begin() {
    func length(_ range: Range<Int>) -> Int { head.bytes[range].reversed().reduce(0) { $0 << 8 | Int($1) } }
    let (first, second) = (length(0..<4), length(4..<8))
    guard first + second <= frameBytes else {
      failure = CaravanError(
        .limitExceeded,
        "a message of \(first + second) bytes was announced: the limit is \(frameBytes), send parts")
      return
    }
    (message, data) = (Part(count: first), Part(count: second))
  }

  private mutating func finishIfWhole() {
    guard failure == nil, head.missing == 0, message.missing == 0, data.missing == 0 else { return }
    let frame = Frame(message.bytes, data: data.bytes)
    bytes += Self.bytes(of: frame)
    frames.append(frame)
    (head, message, data) = (Part(count: Frame.headBytes), Part(count: 0), Part(count: 0))
  }

  private static func bytes(of frame: Frame) -> Int { Frame.headBytes + frame.message.count + frame.data.count }
}
