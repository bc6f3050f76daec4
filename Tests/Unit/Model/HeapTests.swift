import CaravanModel
import CaravanTestKit
import Testing

@Suite struct HeapTests {
  @Test("a heap gives out what it was given, the least first, also after some were taken out of its middle")
  func order() {
    for seed in 1...50 {
      var chance = SplitMix64(seed: UInt64(seed))
      var heap = Heap<Int>()
      var model: [Int] = []
      for _ in 0..<200 {
        switch Int.random(in: 0..<10, using: &chance) {
        case 0..<6:
          let number = Int.random(in: 0..<50, using: &chance)
          heap.insert(number)
          model.append(number)
        case 6..<9:
          #expect(heap.first == model.min())
          guard let least = model.min(), let place = model.firstIndex(of: least) else { continue }
          model.remove(at: place)
          #expect(heap.removeFirst() == least)
        default:
          let out = Int.random(in: 0..<7, using: &chance)
          heap.removeAll { $0 % 7 == out }
          model.removeAll { $0 % 7 == out }
        }
        #expect(heap.count == model.count)
      }
    }
  }
}
