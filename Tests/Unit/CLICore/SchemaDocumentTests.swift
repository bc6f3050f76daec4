import CaravanCLICore
import CaravanModel
import CaravanTestKit
import Testing

/// A schema as a text: CloudKit's language, and what Caravan says of a type beside it.
@Suite struct SchemaDocumentTests {
  private static let album = """
    DEFINE SCHEMA

    CREATE ROLE curators;

    // What the album keeps.
    RECORD TYPE photos (
        "___createTime" TIMESTAMP QUERYABLE SORTABLE,
        name   STRING QUERYABLE SEARCHABLE SORTABLE,
        taken  NUMBER PREFERRED AS TIMESTAMP SORTABLE, -- when
        photo  ASSET,
        tags   LIST<STRING> QUERYABLE,
        secret ENCRYPTED BYTES,
        "read" INT64 QUERYABLE,
        /* whoever is signed in */
        GRANT READ, CREATE TO "_icloud",
        GRANT READ, WRITE TO "_creator",
        GRANT READ, WRITE TO curators
    ) WITH (conflicts fieldMerge, ttl 30d, hide-expired true, chunk-size 128K);

    RECORD TYPE notes ( text STRING );
    """

  @Test("CK-92: types, fields, lists, indexes, grants and settings are read as they are written")
  func parses() throws {
    let types = try SchemaDocument(parsing: Self.album).types
    #expect(types.map(\.name) == ["photos", "notes"])
    let photos = types[0]
    #expect(
      photos.fields == [
        FieldDefinition(id: 0, name: "name", kind: .text, indexes: [.queryable, .sortable, .searchable]),
        FieldDefinition(id: 0, name: "taken", kind: .date, indexes: .sortable),
        FieldDefinition(id: 0, name: "photo", kind: .object, indexes: []),
        FieldDefinition(id: 0, name: "tags", kind: .text, isList: true, indexes: .queryable),
        FieldDefinition(id: 0, name: "secret", kind: .data, isEncrypted: true, indexes: []),
        FieldDefinition(id: 0, name: "read", kind: .integer, indexes: .queryable),
      ])
    let grants = try #require(photos.grants)
    #expect(grants.ownRoles == ["curators"] && grants[.own("curators")] == [.read, .write])
    #expect(grants[.world] == [] && grants[.authenticated] == [.read, .create] && grants[.creator] == [.read, .write])
    #expect(
      photos.settings
        == TypeSettings(
          conflicts: .fieldMerge, ttlMilliseconds: 30 * 86_400_000, hidesExpired: true, chunkBytes: 128 << 10))
    #expect(types[1].grants == .standard && types[1].settings == TypeSettings())
    #expect(types[1].fields[0].indexes == [])
  }

  @Test("CK-92: what is written is read as the same, and two schemas that are the same are one text")
  func roundTrip() throws {
    let document = try SchemaDocument(parsing: Self.album)
    let again = try SchemaDocument(parsing: document.description)
    #expect(Set(again.types) == Set(document.types) && again.description == document.description)
    let reversed = SchemaDocument(document.types.reversed())
    #expect(reversed.description == document.description)
  }

  @Test("CK-92: a thousand random schemas are read as they were written")
  func randomly() throws {
    for seed in 1...1_000 as ClosedRange<UInt64> {
      var chance = SplitMix64(seed: seed)
      let document = SchemaDocument((0..<Int.random(in: 0...4, using: &chance)).map { Self.type($0, &chance) })
      let again = try SchemaDocument(parsing: document.description)
      #expect(again == document, "seed \(seed): \(document)")
    }
  }

  private static let names = ["name", "Read", "TYPE", "list", "asset", "x9", "To", "grant_2"]

  private static func type(_ number: Int, _ chance: inout SplitMix64) -> RecordType {
    var grants = TypeGrants.standard
    let roles = TypeGrants.Role.standard + ["curators", "Role", "to"].map { .own($0) }
    for role in roles where Bool.random(using: &chance) {
      try? grants.grant(TypeGrants.Rights(rawValue: UInt8.random(in: 0...7, using: &chance)), to: role)
    }
    if Int.random(in: 0..<8, using: &chance) == 0 {
      for role in roles { try? grants.grant([], to: role) }
    }
    let fields = names.shuffled(using: &chance).prefix(Int.random(in: 1...8, using: &chance)).map { name in
      var field = FieldDefinition(
        id: 0, name: name, kind: FieldKind.allCases.randomElement(using: &chance) ?? .text,
        isList: Bool.random(using: &chance), isEncrypted: Bool.random(using: &chance))
      field.indexes = field.possibleIndexes.intersection(
        FieldIndexes(rawValue: UInt8.random(in: 0...7, using: &chance)))
      return field
    }
    let settings = TypeSettings(
      conflicts: ConflictPolicy.allCases.randomElement(using: &chance) ?? .manual,
      fallback: [.manual, .fieldMerge, .lastWriterWins].randomElement(using: &chance) ?? .manual,
      extensionMilliseconds: UInt32.random(in: 0...5_000, using: &chance),
      ttlMilliseconds: [0, 1, 999, 5_000, 86_400_000, 90_000].randomElement(using: &chance) ?? 0,
      hidesExpired: Bool.random(using: &chance), chunkBytes: TypeSettings.chunkSizes.randomElement(using: &chance))
    return RecordType(
      id: 0, definition: 0, name: "t\(number)", fields: Array(fields), settings: settings, grants: grants)
  }

  @Test(
    "CK-92: what is wrong in a text is said with its line and column",
    arguments: [
      ("", "line 1, column 1: expected DEFINE SCHEMA"),
      ("DEFINE SCHEMA\nRECORD TYPE a ( x STRING )", "line 2, column 27: expected ';'"),
      ("DEFINE SCHEMA\n  RECORD TYPE a ( x FLOAT );", "line 2, column 21: expected what field 'x' holds"),
      ("DEFINE SCHEMA RECORD TYPE a ( x STRING, X INT64 );", "'X' stands twice"),
      ("DEFINE SCHEMA RECORD TYPE a ( x STRING ); RECORD TYPE A ( x STRING );", "'A' stands twice"),
      ("DEFINE SCHEMA RECORD TYPE a ( GRANT READ TO \"_world\" );", "no field of its own"),
      ("DEFINE SCHEMA RECORD TYPE a ( x STRING, GRANT WRITE TO \"_world\" );", "the world may read or nothing"),
      ("DEFINE SCHEMA RECORD TYPE a ( x STRING, GRANT READ TO admins );", "there is no role 'admins'"),
      ("DEFINE SCHEMA RECORD TYPE a ( x STRING, GRANT READ TO \"_admins\" );", "there is no role '_admins'"),
      ("DEFINE SCHEMA CREATE ROLE admins;", "column 27: no type grants role 'admins' anything"),
      ("DEFINE SCHEMA CREATE ROLE a; CREATE ROLE a;", "role 'a' stands twice"),
      ("DEFINE SCHEMA CREATE ROLE \"creator\";", "'creator' is a role that every container has"),
      ("DEFINE SCHEMA CREATE ROLE _mine;", "a role '_mine' cannot be"),
      ("DEFINE SCHEMA CREATE ROLE a RECORD", "expected ';' after role 'a'"),
      ("DEFINE SCHEMA CREATE TYPE a;", "expected ROLE after CREATE"),
      ("DEFINE SCHEMA RECORD TYPE a ( x STRING ) WITH (ttl soon);", "there is no setting ttl 'soon'"),
      ("DEFINE SCHEMA RECORD TYPE a ( x STRING ) WITH (colour red);", "there is no setting colour 'red'"),
      ("DEFINE SCHEMA /* RECORD", "a comment has no end"), ("DEFINE SCHEMA RECORD TYPE \"a", "has no end"),
      ("DEFINE SCHEMA RECORD TYPE type ( x STRING );", "in double quotes"),
    ])
  func refusals(_ text: String, _ words: String) {
    #expect { try SchemaDocument(parsing: text) } throws: { error in
      (error as? CaravanError)?.message.contains(words) == true
    }
  }

  @Test("A text beyond its bounds is refused before it is read")
  func bounds() {
    let types = (0...SchemaDocument.maximumTypes).map { "RECORD TYPE t\($0) ( x STRING );" }.joined()
    for text in [String(repeating: " ", count: SchemaDocument.maximumBytes + 1), "DEFINE SCHEMA " + types] {
      #expect { try SchemaDocument(parsing: text) } throws: { ($0 as? CaravanError)?.code == .limitExceeded }
    }
  }

  @Test("What queries may do with a field, in words")
  func indexText() throws {
    #expect(try IndexText.parse("a=queryable+sortable") == ("a", [.queryable, .sortable]))
    #expect(try IndexText.parse("a=nothing") == ("a", []))
    for text in ["a", "a=", "a=fast", "a=queryable+", "=", "a=queryable,sortable"] {
      #expect { try IndexText.parse(text) } throws: { ($0 as? CaravanError)?.code == .invalidData }
    }
  }
}
