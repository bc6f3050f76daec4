import CaravanModel
import CaravanRuntime
import CaravanStore
import CaravanTestKit
import Testing

/// Goal: a flipped byte of a chunk costs that chunk alone, is known from the first who meets it, and is mended by the
/// next who has the bytes (TRU-10). Method: the bytes are changed on the disk behind the store's back, in each
/// place where chunks lie.
@Suite(.timeLimit(.minutes(2))) struct ChunkDamageTests {
  @Test(
    "TRU-10: a damaged chunk is absent for whoever asks, alone, and is known afterwards",
    arguments: ChunkPlace.allCases)
  func absentAlone(place: ChunkPlace) async throws {
    try await ChunkDamage.with(place) { f in
      let chunks = try await f.fill(3)
      #expect(try await f.damaged().isEmpty)
      try await f.flip(chunks[1])
      #expect(try await f.bytes(of: chunks) == [chunks[0].bytes, nil, chunks[2].bytes])
      #expect(try await f.damaged() == [chunks[1].hash])
      #expect(try await f.bench.store.status().damagedChunks == 1)
      let records = try await f.bench.store.records(naming: [chunks[1].hash], in: Sample.database(), atMost: 9)
      #expect(try records == [DamagedRecord(zone: Sample.zone(), name: "r2", chunks: [chunks[1].hash])])
    }
  }

  @Test(
    "TRU-10: whoever writes the same bytes again is told that they are missing, before anybody has read them",
    arguments: ChunkPlace.allCases)
  func rewrite(place: ChunkPlace) async throws {
    try await ChunkDamage.with(place) { f in
      let chunks = try await f.fill(2)
      try await f.flip(chunks[0])
      let op = f.bench.op("tablet")
      let again = [Sample.save("again", chunks: chunks.map(\.hash))]
      #expect(try await f.bench.commit(Sample.zone(), again, op: op) == .missing([chunks[0].hash]))
      #expect(try await f.bench.store.missing(chunks.map(\.hash), in: Sample.database()) == [chunks[0].hash])
      try await f.bench.store.stage([chunks[0]], in: Sample.database())
      #expect(try await f.bench.commit(Sample.zone(), again, op: op).accepted == [3])
      #expect(try await f.bytes(of: chunks) == chunks.map(\.bytes))
      #expect(try await f.damaged().isEmpty)
      let status = try await f.bench.store.status()
      #expect(status.damagedChunks == 0 && status.chunks == 2 && status.chunkBytes == UInt64(2 * ChunkDamage.size))
    }
  }

  @Test("TRU-10: asking what is missing reads what is there; so does staging it", arguments: ChunkPlace.allCases)
  func asking(place: ChunkPlace) async throws {
    try await ChunkDamage.with(place) { f in
      let chunks = try await f.fill(3)
      try await f.flip(chunks[0])
      #expect(try await f.bench.store.missing(chunks.map(\.hash), in: Sample.database()) == [chunks[0].hash])
      try await f.bench.store.stage(chunks, in: Sample.database())
      #expect(try await f.bytes(of: chunks) == chunks.map(\.bytes))
      // What was read a moment ago is not read again.
      f.bench.clock.advance(by: .seconds(601))
      try await f.flip(chunks[1])
      try await f.bench.store.stage(chunks, in: Sample.database())
      #expect(try await f.bytes(of: chunks) == chunks.map(\.bytes), "nobody had asked")
    }
  }

  @Test("TRU-10: an edit that keeps a chunk known to be damaged is told so; one unknown is not read for it")
  func edit() async throws {
    try await ChunkDamage.with(.file) { f in
      let chunks = try await f.fill(1)
      try await f.flip(chunks[0])
      let edit = { (name: String) in [Sample.save(name, body: [9], chunks: [chunks[0].hash])] }
      #expect(try await f.bench.commit(Sample.zone(), edit("r1")).accepted == [2])
      _ = try await f.bytes(of: chunks)
      #expect(try await f.bench.commit(Sample.zone(), edit("r1")) == .missing([chunks[0].hash]))
    }
  }

  @Test(
    "TRU-10: a part of a group that names a damaged chunk is told so", arguments: [ChunkPlace.file, .postgres])
  func part(place: ChunkPlace) async throws {
    try await ChunkDamage.with(place) { f in
      let chunks = try await f.fill(2)
      try await f.flip(chunks[0])
      let op = f.bench.op()
      _ = try await f.bench.store.beginGroup(op, floor: 0, in: Sample.zone())
      let part = StagedPart(
        zone: try Sample.zone(), op: op, number: 0, records: 1, chunks: chunks.map(\.hash), body: [1])
      #expect(try await f.bench.store.stage(part) == .missing([chunks[0].hash]))
    }
  }

  @Test(
    "TRU-10: more chunks than a transaction may read are read before it", arguments: [ChunkPlace.file, .postgres])
  func many(place: ChunkPlace) async throws {
    try await ChunkDamage.with(place) { f in
      let chunks = try await f.fill(40)
      try await f.flip(chunks[33])
      let all = [Sample.save("all", chunks: chunks.map(\.hash))]
      let results = await f.bench.store.commit([
        Commit(zone: try Sample.zone(), op: f.bench.op(), isAtomic: false, mutations: all)
      ])
      #expect(try results[0].get() == .missing([chunks[33].hash]))
      try await f.bench.store.stage([chunks[33]], in: Sample.database())
      #expect(try await f.bench.commit(Sample.zone(), all).accepted == [41])
    }
  }

  @Test(
    "TRU-10: scrubbing finds what nobody reads, goes on where it was after a new start, and ends a round",
    arguments: ChunkPlace.allCases)
  func scrub(place: ChunkPlace) async throws {
    try await ChunkDamage.with(place) { f in
      let chunks = try await f.fill(6)
      try await f.flip(chunks[2])
      try await f.flip(chunks[4])
      var read = 0
      for step in 1...20 {
        let done = try await f.bench.store.scrub(bytes: 2 * ChunkDamage.size)
        read += done.chunks
        if done.isRoundOver { break }
        #expect(step < 20, "no round ends")
        await f.bench.close()
        try await f.bench.open()
      }
      #expect(read == 6)
      #expect(Set(try await f.damaged()) == [chunks[2].hash, chunks[4].hash])
    }
  }

  @Test("TRU-10: bytes that could not be read for a while, and can be again, are damaged no more")
  func recovered() async throws {
    try await ChunkDamage.with(.file) { f in
      let chunks = try await f.fill(2)
      try await f.flip(chunks[0])
      _ = try await f.bytes(of: chunks)
      #expect(try await f.damaged() == [chunks[0].hash])
      var bytes = chunks[0]
      bytes.bytes[20_000] ^= 0x40
      let was = ChunkBytes(hash: bytes.hash, bytes: bytes.bytes)
      try await f.restore(chunks[0], from: was)
      while try await !f.bench.store.scrub(bytes: 1 << 20).isRoundOver {}
      #expect(try await f.damaged().isEmpty)
    }
  }

  @Test(
    "TRU-10: damage says what records hold, that first, so that nobody is asked for the bytes of old versions",
    arguments: ChunkPlace.allCases)
  func held(place: ChunkPlace) async throws {
    try await ChunkDamage.with(place) { f in
      let chunks = try await f.fill(4)
      for chunk in chunks { try await f.flip(chunk) }
      _ = try await f.bytes(of: chunks)
      try await f.bench.commit(Sample.zone(), [Sample.delete("r1"), Sample.delete("r2"), Sample.delete("r4")])
      for database in [nil, Sample.database()] {
        let all = try await f.bench.store.damage(in: database, atMost: 9)
        #expect(all.map(\.isHeld) == [true, false, false, false] && all[0].hash == chunks[2].hash)
        #expect(try await f.bench.store.damage(in: database, atMost: 1).map(\.hash) == [chunks[2].hash])
      }
    }
  }

  @Test(
    "TRU-10: a damaged chunk that no record holds any more goes like any other", arguments: ChunkPlace.allCases)
  func collected(place: ChunkPlace) async throws {
    try await ChunkDamage.with(place) { f in
      let chunks = try await f.fill(2)
      try await f.flip(chunks[0])
      _ = try await f.bytes(of: chunks)
      try await f.bench.commit(Sample.zone(), [Sample.delete("r1"), Sample.delete("r2")])
      f.bench.clock.advance(by: StoreLimits.stagingLease + StoreLimits.stagingGrace + .seconds(1))
      while try await f.bench.store.collect() {}
      #expect(try await f.damaged().isEmpty)
      #expect(try await f.bench.store.status().chunks == 0)
      try await f.bench.store.stage(chunks, in: Sample.database())
      #expect(try await f.bytes(of: chunks) == chunks.map(\.bytes))
    }
  }
}
