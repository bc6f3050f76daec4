import CaravanRuntime
import Dispatch
import Glibc
import Testing

@Suite struct TaskContinuationTests {
  /// Safe because the task that reads it goes on only when it has been written; the sanitizer watches its variable.
  private final class Watched: @unchecked Sendable {
    var value = 0
  }

  @Test("what a task is given before it has suspended is no race for the thread sanitizer")
  func resumedEarly() async {
    for count in 1...20 {
      let watched = await withTaskContinuation { continuation in
        DispatchQueue.global().async {
          let watched = Watched()
          watched.value = count
          continuation.resume(returning: watched)
        }
        // The other thread is done before this one suspends, and no lock says so.
        usleep(5_000)
      }
      #expect(watched.value == count)
    }
  }

  @Test("what a task is thrown before it has suspended arrives")
  func thrownEarly() async {
    await #expect(throws: CancellationError.self) {
      try await withThrowingTaskContinuation { (continuation: TaskContinuation<Int, any Error>) in
        DispatchQueue.global().async { continuation.resume(throwing: CancellationError()) }
        usleep(5_000)
      }
    }
  }
}
