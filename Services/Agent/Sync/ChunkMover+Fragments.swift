internal import CaravanAgentCore
internal import CaravanAgentStore
internal import CaravanModel
internal import CaravanRuntime
internal import CaravanWire

/// Carries for a table the frames that the link does not let pass whole (MOB-23). A row is not cut, however large: its
/// frame is, and travels as chunks do.
struct FragmentTransport: Sendable {
  /// How an answer is to come.
  struct Form: Sendable {
    let container: String
    /// Bytes of the largest that comes whole.
    let most: Int
  }

  let mover: ChunkMover
  let linkGuard: LinkGuard

  var table: TableID { linkGuard.table }
  var form: Form { Form(container: table.app.text, most: mover.exchanger.fragment.whole) }

  /// The frame as it is, or one that says where its parts are.
  func packed(_ frame: [UInt8]) async throws(CaravanError) -> [UInt8] {
    let form = form
    guard frame.count > form.most else { return frame }
    let parts = try await mover.post(frame, through: linkGuard)
    let parcel = Parcel(container: form.container, chunks: ChunkHash.joined(parts))
    return Frame(parcel: parcel, most: UInt32(clamping: form.most)).encoded()
  }

  /// - Returns: the frame.
  func fetch(_ parcel: Parcel) async throws(CaravanError) -> [UInt8] {
    let parts = try ChunkHash.list(parcel.chunks)
    guard parts.count <= Limits.chunksPerFrame else { throw .unknownResult }
    var frame: [UInt8] = []
    for part in parts { frame += try await mover.fetch(part, through: linkGuard) }
    await mover.forget(parts)
    return frame
  }
}

/// An answer that lies at the cloud, to be fetched.
struct OwedAnswer: Sendable {
  private let question: [UInt8]
  private let parcel: Parcel

  init(to operations: [Operation.Kind], _ parcel: Parcel) { (question, self.parcel) = (Self.gist(operations), parcel) }

  /// Nil: it answers another question.
  func answer(to operations: [Operation.Kind]) -> Parcel? { Self.gist(operations) == question ? parcel : nil }

  /// Without what may differ from one time to the next.
  private static func gist(_ operations: [Operation.Kind]) -> [UInt8] {
    let bare = operations.map { operation -> Operation in
      switch operation {
      case .pull(var pull):
        (pull.maxBytes, pull.slackMilliseconds) = (0, 0)
        return Operation(kind: .pull(pull))
      case .push(var push):
        (push.chunks, push.opFloor, push.slackMilliseconds) = ([], 0, 0)
        return Operation(kind: .push(push))
      default: return Operation(kind: operation)
      }
    }
    return Exchange(operations: bare).encoded()
  }
}

extension ChunkMover {
  /// What of it has arrived before is not sent again.
  fileprivate func post(_ frame: [UInt8], through linkGuard: LinkGuard) async throws(CaravanError) -> [ChunkHash] {
    var parts: [ChunkHash] = []
    for start in stride(from: 0, to: frame.count, by: Limits.chunkBytes) {
      let part = LocalChunk(containing: Array(frame[start..<min(start + Limits.chunkBytes, frame.count)]))
      try await putPiece(part, through: linkGuard)
      parts.append(part.hash)
    }
    return parts
  }

  /// Goes on where it was cut off, as long as the same is asked for.
  func fetch(_ hash: ChunkHash, through linkGuard: LinkGuard) async throws(CaravanError) -> [UInt8] {
    if begun.count >= Limits.chunksPerFrame, begun[hash] == nil { begun = [:] }
    var bytes = begun[hash] ?? []
    var isWhole = !bytes.isEmpty && ChunkHash(of: bytes) == hash
    while !isWhole {
      let most = exchanger.fragment.bytes
      do throws(CaravanError) {
        let (part, size) = try await part(of: hash, from: bytes.count, most: most, through: linkGuard)
        bytes += part
        isWhole = bytes.count >= size
        begun[hash] = bytes
      } catch {
        // The next one is smaller.
        guard error.code == .timedOut, exchanger.fragment.bytes < most else { throw error }
      }
    }
    guard ChunkHash(of: bytes) == hash else {
      begun[hash] = nil
      throw CaravanError(.internalError, "the cloud answered with what is no part of the answer asked for")
    }
    return bytes
  }

  func forget(_ parts: [ChunkHash]) { for part in parts { begun[part] = nil } }

  /// - Returns: so many bytes of the chunk at most, and how many it has.
  private func part(
    of hash: ChunkHash, from offset: Int, most: Int, through linkGuard: LinkGuard
  ) async throws(CaravanError) -> ([UInt8], size: Int) {
    let reply = try await message(most, isUpload: false, through: linkGuard) {
      ChunkRequest(ticket: $0, get: hash.bytes, offset: UInt32(offset), most: UInt32(most))
    }
    guard let part = reply.chunks.first, part.hash == hash.bytes, part.bases.isEmpty, !part.data.isEmpty,
      offset + part.data.count <= Limits.chunkBytes
    else { throw CaravanError(.chunksMissing, "an answer is not at the cloud any more: it is asked for again") }
    return (part.data, reply.size > 0 ? Int(reply.size) : part.data.count)
  }
}
