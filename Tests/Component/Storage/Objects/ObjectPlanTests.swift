import CaravanModel
import CaravanObjectsS3
import CaravanStorageCore
import Testing

/// Goal: where an object goes, what is to be done for a record, and when it is tried again. Method: tables.
@Suite struct ObjectPlanTests {
  private static let here = PlacedObject(path: "a", fingerprint: "1")

  @Test("a path says whose object it is, and no part of it means anything to a URL or a file system")
  func paths() throws {
    let zone = try ZoneID(
      DatabaseID(container: ContainerID("album"), environment: .development, owner: UserID("ada")), "photos")
    #expect(
      PlacedObject.path(zone, record: "r1", field: "photo") == "album/development/ada/photos/r1/photo")
    #expect(
      PlacedObject.path(zone, record: "../x y", field: "p", index: 3)
        == "album/development/ada/photos/~2E.~2Fx~20y/p/3")
    let open = try ZoneID(
      DatabaseID(container: ContainerID("album"), environment: .development, owner: nil), "_defaultZone")
    #expect(PlacedObject.path(open, record: "ü", field: "p") == "album/development/_public/_defaultZone/~C3~BC/p")
    let placed = PlacedObject(path: "a/b", fingerprint: "ff")
    #expect(PlacedObject(text: placed.text) == placed)
  }

  @Test("UNI-06: what is there stays, what changed is put, what is no more goes")
  func plans() {
    let changed = PlacedObject(path: "a", fingerprint: "2")
    let other = PlacedObject(path: "b", fingerprint: "1")
    let same = ObjectPlan(wanted: [Self.here], there: [Self.here])
    #expect(same.puts.isEmpty && same.removals.isEmpty && same.kept == [Self.here])
    let next = ObjectPlan(wanted: [changed, other], there: [Self.here])
    #expect(next.puts == [changed, other] && next.removals.isEmpty)
    #expect(ObjectPlan(wanted: [], there: [Self.here, other]).removals == [Self.here, other])
  }

  @Test("waits grow and end somewhere; what can never succeed is not tried again")
  func retries() {
    #expect((0..<4).map { ObjectRetry.wait(after: $0) } == [.seconds(1), .seconds(2), .seconds(4), .seconds(8)])
    #expect(ObjectRetry.wait(after: 1_000) == .seconds(300))
    #expect(ObjectRetry.isHopeless(CaravanError(.limitExceeded, "")))
    for code in [ErrorCode.unavailable, .timedOut, .storageFull, .notAuthenticated, .serverBusy] {
      #expect(!ObjectRetry.isHopeless(CaravanError(code, "")))
    }
  }

  @Test("a bucket that cannot be is refused with what to write")
  func buckets() throws {
    func make(_ place: String, _ endpoint: String = "http://127.0.0.1:9", _ id: String = "id") throws {
      _ = try S3Options(place, endpoint: endpoint, region: "r", keyID: id, secret: "s")
    }
    try make("s3://bucket/some/prefix/")
    for place in ["s3://", "s3://Bad Name/x", "bucket"] {
      #expect(throws: CaravanError.self, "\(place)") { try make(place) }
    }
    #expect(throws: CaravanError.self) { try make("s3://bucket", "ftp://x") }
    #expect(throws: CaravanError.self) { try make("s3://bucket", "http://x", "") }
  }

  @Test("a place is a bucket or a directory; the address of anything else is refused with what to write")
  func places() throws {
    #expect(try S3Options.isPlace("s3://bucket/prefix"))
    for directory in ["/srv/objects", "objects", "./a://b", "a:b"] {
      #expect(try !S3Options.isPlace(directory), "\(directory)")
    }
    for address in ["ftp://x", "S3://bucket", "https://bucket.s3.amazonaws.com/p", "gs://b", "file:///srv/objects"] {
      let error = #expect(throws: CaravanError.self, "\(address)") { try S3Options.isPlace(address) }
      #expect(error?.message == "'\(address)' is no object store: give a directory, or s3://BUCKET/PREFIX")
    }
  }

  @Test("REC-10: only what a bucket will never take is given up; whatever else it answers, it is asked again")
  func answers() throws {
    #expect([200, 204].allSatisfy { S3Options.refusal($0, "", of: "p") == nil })
    let isHopeless = { (status: Int, code: String) in
      S3Options.refusal(status, "<Error><Code>\(code)</Code>", of: "p").map(ObjectRetry.isHopeless)
    }
    #expect(isHopeless(400, "KeyTooLongError") == true && isHopeless(413, "") == true)
    #expect(isHopeless(400, "RequestTimeout") == false)
    for status in [301, 401, 403, 404, 409, 429, 500, 503] { #expect(isHopeless(status, "") == false, "\(status)") }
  }

  @Test("what is not there need not go; where its bucket is missing, that is asked again")
  func removals() {
    let (object, bucket) = ("<Error><Code>NoSuchKey</Code>", "<Error><Code>NoSuchBucket</Code>")
    #expect(S3Options.refusal(404, object, of: "p", removing: true) == nil)
    #expect(S3Options.refusal(404, object, of: "p") != nil)
    #expect(S3Options.refusal(404, bucket, of: "p", removing: true).map(ObjectRetry.isHopeless) == false)
  }

  @Test("credentials that last for a while bring their token, and an empty one is none")
  func token() throws {
    for (token, headers) in [
      ("t", ["x-amz-content-sha256: h", "x-amz-security-token: t"]), ("", ["x-amz-content-sha256: h"]),
    ] {
      let options = try S3Options(
        "s3://b", endpoint: "http://x", region: "r", keyID: "k", secret: "s", sessionToken: token)
      #expect(options.headers(bodyHash: "h") == headers)
    }
  }
}
