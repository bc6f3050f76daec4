import CaravanModel
import CaravanSchemaCore
import CaravanTestKit
import Testing

/// Goal: whoever proposes what in which order, every version can be read by every device. Method: random apps, each of
/// which knows some version and adds fields to it, beside the union of all that was added; the decision itself stops
/// the test where a version would lose a field or give a number twice.
@Suite struct RegistryCourseTests {
  private static func type(_ names: some Sequence<String>) -> RecordType {
    RecordType(
      id: 0, definition: 0, name: "album",
      fields: zip(1..., names).map { FieldDefinition(id: $0, name: $1, kind: .text) })
  }

  private static func decide(
    _ proposal: RecordType, _ versions: [RecordType], _ chance: inout SplitMix64
  ) throws -> RegistryDecision {
    let isRestored = Int.random(in: 0..<4, using: &chance) == 0
    let count = UInt32(versions.count)
    let numbers =
      isRestored
      ? TypeNumbers(afterRestore: count) { UInt64.random(in: 0..<$0, using: &chance) } : TypeNumbers(after: count)
    return try Registry.decide(
      proposal, history: NameHistory(versions), numbers: numbers, in: .development, by: .developer)
  }

  @Test("CK-26, CK-90: no field is ever lost, none changes its number, and what was agreed is agreed again")
  func branches() throws {
    for seed in 1..<101 as Range<UInt64> {
      var chance = SplitMix64(seed: seed)
      var versions: [RecordType] = []
      var numbers: [String: UInt32] = [:]
      for step in 0..<30 {
        let known = versions.randomElement(using: &chance)?.fields.map(\.name) ?? []
        let added = (0..<Int.random(in: 0...2, using: &chance)).map {
          "f\(Int.random(in: 0..<40, using: &chance))_\($0)"
        }
        let names = (known + added.filter { !known.contains($0) }).shuffled(using: &chance)
        guard !names.isEmpty else { continue }
        let proposal = Self.type(names)
        switch try Self.decide(proposal, versions, &chance) {
        case .existing(let type): #expect(names.allSatisfy { type.field(named: $0) != nil }, "seed \(seed)")
        case .add(let type):
          versions.append(type)
          #expect(Set(type.fields.map(\.name)) == Set(numbers.keys).union(names), "seed \(seed), step \(step)")
          for field in type.fields {
            let known = numbers.updateValue(field.id, forKey: field.name)
            #expect(known == nil || known == field.id, "seed \(seed), step \(step)")
          }
          let again = try Self.decide(proposal, versions, &chance)
          #expect(again == .existing(type))
        }
      }
    }
  }

  @Test("CK-26: versions that grew apart make no type together that is too large to be read back")
  func tooManyTogether() throws {
    var chance = SplitMix64(seed: 1)
    let old = Self.type(["a"])
    var theirs = Self.type(["a"] + (1..<200).map { "theirs\($0)" })
    theirs.id = 2
    let mine = Self.type(["a"] + (1..<200).map { "mine\($0)" })
    #expect { try Self.decide(mine, [old, theirs], &chance) } throws: {
      ($0 as? CaravanError)?.code == .schemaViolation
    }
  }

  @Test("CK-26: versions that grew apart give no device two columns of one name")
  func oneNameInTwoCases() throws {
    var chance = SplitMix64(seed: 1)
    let old = Self.type(["a"])
    var theirs = Self.type(["a", "note"])
    theirs.id = 2
    #expect { try Self.decide(Self.type(["a", "Note"]), [old, theirs], &chance) } throws: {
      ($0 as? CaravanError)?.message.contains("only in case") == true
    }
  }
}
