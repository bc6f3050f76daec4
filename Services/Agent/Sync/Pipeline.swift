internal import CaravanModel

/// Does `work` on everything that `next` finds, at most `width` at a time; the first failure stops it.
/// - Throws: the first failure, after what was on its way has ended.
func pipelined<Item: Sendable>(
  width: Int, isolation: isolated (any Actor)? = #isolation, next: () async throws(CaravanError) -> Item?,
  work: @escaping @Sendable (Item) async throws(CaravanError) -> Void
) async throws(CaravanError) {
  var failure: CaravanError?
  await withTaskGroup(of: CaravanError?.self) { group in
    var inFlight = 0
    while failure == nil {
      if inFlight == width {
        failure = await group.next() ?? nil
        inFlight -= 1
        continue
      }
      do throws(CaravanError) {
        guard let item = try await next() else { break }
        inFlight += 1
        group.addTask {
          do throws(CaravanError) { try await work(item) } catch { return error }
          return nil
        }
      } catch {
        failure = error
      }
    }
    while let ended = await group.next() { failure = failure ?? ended }
  }
  if let failure { throw failure }
}
