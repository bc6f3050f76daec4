import CaravanAccess
import CaravanCrypto
import CaravanModel
import CaravanRuntime
import CaravanStorageClient
import CaravanSyncCore
import CaravanWire

/// Frames of a device over a link that does not let them pass whole (MOB-23). A row is never cut, however large: what
/// carries it travels as chunks do, whose parts are kept where they have arrived.
struct AnswerFragments: Sendable {
  /// How a device wants its answer.
  struct Form: Sendable {
    let container: String
    let most: Int
  }

  private let device: EnrolledDevice
  private let cloud: Cloud

  init(of device: EnrolledDevice, _ cloud: Cloud) {
    self.device = device
    self.cloud = cloud
  }

  /// What the frame takes, and what its body will take once it is opened, is charged before either is done.
  /// - Returns: the frame with its body, how it is to be answered (nil: whole), and what was paid.
  /// - Throws: `chunksMissing` when parts of it are not here; `rateLimited`; what a frame is refused for.
  func open(_ payload: [UInt8]) async throws(CaravanError) -> (Frame, Form?, Prepaid) {
    try FrameCheck.message(bytes: payload.count)
    var paid = try cloud.admission.pass(bytes: payload.count, of: device)
    let outer = try Frame.decode(payload)
    paid += try check(outer)
    guard let parcel = outer.parcel else { return (outer, nil, Prepaid(paid)) }
    let form = outer.most > 0 ? Form(container: parcel.container, most: Int(outer.most)) : nil
    guard !parcel.chunks.isEmpty else { return (outer, form, Prepaid(paid)) }
    let parts = try ChunkHash.list(parcel.chunks)
    try FrameCheck.parts(parts.count)
    paid += try cloud.admission.pass(bytes: parts.count * Limits.chunkBytes, of: device)
    let whole = try await cloud.storage.frame(of: parts, in: database(parcel.container))
    try FrameCheck.message(bytes: whole.count)
    let frame = try Frame.decode(whole)
    paid += try check(frame)
    return (frame, form, Prepaid(paid))
  }

  private func check(_ frame: Frame) throws(CaravanError) -> UInt64 {
    let (plain, isCompressed) = (Int(frame.plainBytes), frame.compression == .zstd)
    try FrameCheck.envelope(plainBytes: plain, bodyBytes: frame.body.count, isCompressed: isCompressed)
    return isCompressed ? try cloud.admission.pass(bytes: plain, of: device) : 0
  }

  /// What cannot be staged goes whole: perhaps it passes.
  func close(_ answer: [UInt8], _ form: Form?) async -> [UInt8] {
    guard let form, answer.count > form.most else { return answer }
    let parts = stride(from: 0, to: answer.count, by: Limits.chunkBytes).map { start in
      let bytes = Array(answer[start..<min(start + Limits.chunkBytes, answer.count)])
      return Chunk(hash: SHA256.hash(bytes).bytes, data: bytes)
    }
    do throws(CaravanError) { try await cloud.storage.stage(parts, in: database(form.container)) } catch {
      cloud.host.log.info("an answer could not be staged", [.user: device.user, .error: error.description])
      return answer
    }
    return Frame(parcel: Parcel(container: form.container, chunks: parts.flatMap(\.hash))).encoded()
  }

  private func database(_ container: String) throws(CaravanError) -> DatabaseID {
    try Access(Principal(device)).database(container)
  }
}
