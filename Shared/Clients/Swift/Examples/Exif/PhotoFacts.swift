import CExif

/// What a photo says of itself, read by libexif. A file without EXIF, or with damaged EXIF, has no facts; it is still a
/// photo.
public struct PhotoFacts: Sendable, Equatable {
  /// When it was taken, as seconds since 1970 if the camera's clock showed UTC (EXIF 2.3 knows no zone).
  public var takenAt: Int64?
  /// Degrees north.
  public var latitude: Double?
  /// Degrees east.
  public var longitude: Double?

  public init(takenAt: Int64? = nil, latitude: Double? = nil, longitude: Double? = nil) {
    self.takenAt = takenAt
    self.latitude = latitude
    self.longitude = longitude
  }

  /// Reads a JPEG's bytes; the first 128 KiB are enough, EXIF stands at the front.
  public init(jpeg: [UInt8]) {
    self.init()
    // libexif: "exif_data_new_from_data … returns NULL on error", and a new reference that is ours.
    guard let data = exif_data_new_from_data(jpeg, UInt32(clamping: jpeg.count)) else { return }
    defer { exif_data_unref(data) }
    takenAt = Self.entry(data, EXIF_IFD_EXIF, EXIF_TAG_DATE_TIME_ORIGINAL).flatMap(Self.text).flatMap(Self.seconds)
    let order = exif_data_get_byte_order(data)
    latitude = Self.degrees(data, order, value: 2, reference: 1, negative: "S", limit: 90)
    longitude = Self.degrees(data, order, value: 4, reference: 3, negative: "W", limit: 180)
  }

  private static func entry(
    _ data: UnsafeMutablePointer<ExifData>, _ directory: ExifIfd, _ tag: ExifTag
  ) -> UnsafeMutablePointer<ExifEntry>? {
    entry(data, directory, tag.rawValue)
  }

  private static func entry(
    _ data: UnsafeMutablePointer<ExifData>, _ directory: ExifIfd, _ tag: UInt32
  ) -> UnsafeMutablePointer<ExifEntry>? {
    let contents = withUnsafePointer(to: &data.pointee.ifd) {
      $0.withMemoryRebound(to: UnsafeMutablePointer<ExifContent>?.self, capacity: Int(EXIF_IFD_COUNT.rawValue)) {
        $0[Int(directory.rawValue)]
      }
    }
    return exif_content_get_entry(contents, ExifTag(rawValue: tag))
  }

  private static func text(_ entry: UnsafeMutablePointer<ExifEntry>) -> String? {
    guard entry.pointee.format == EXIF_FORMAT_ASCII, let bytes = entry.pointee.data else { return nil }
    let buffer = UnsafeBufferPointer(start: bytes, count: Int(entry.pointee.size))
    return String(decoding: buffer.prefix { $0 != 0 }, as: UTF8.self)
  }

  /// Three rationals: degrees, minutes, seconds.
  private static func degrees(
    _ data: UnsafeMutablePointer<ExifData>, _ order: ExifByteOrder, value: UInt32, reference: UInt32, negative: String,
    limit: Double
  ) -> Double? {
    guard let entry = entry(data, EXIF_IFD_GPS, value), entry.pointee.format == EXIF_FORMAT_RATIONAL,
      entry.pointee.components == 3, entry.pointee.size >= 24, let bytes = entry.pointee.data
    else { return nil }
    var sum = 0.0
    for (index, unit) in [1.0, 60.0, 3600.0].enumerated() {
      let part = exif_get_rational(bytes + index * 8, order)
      guard part.denominator != 0 else { return nil }
      sum += Double(part.numerator) / Double(part.denominator) / unit
    }
    guard sum <= limit else { return nil }
    return Self.entry(data, EXIF_IFD_GPS, reference).flatMap(text) == negative ? -sum : sum
  }

  /// "2008:10:22 16:28:39", EXIF 2.3 §4.6.5.
  static func seconds(_ text: String) -> Int64? {
    let numbers = text.split { $0 == ":" || $0 == " " }.compactMap { Int64($0) }
    guard numbers.count == 6, (1...9999).contains(numbers[0]), (1...12).contains(numbers[1]),
      (1...31).contains(numbers[2]), (0...23).contains(numbers[3]), (0...59).contains(numbers[4]),
      (0...60).contains(numbers[5])
    else { return nil }
    // Days since 1970 of a Gregorian date, counted in years that begin in March.
    let year = numbers[1] > 2 ? numbers[0] : numbers[0] - 1
    let month = (numbers[1] + 9) % 12
    let day = 365 * year + year / 4 - year / 100 + year / 400 + (153 * month + 2) / 5 + numbers[2] - 1 - 719_468
    return ((day * 24 + numbers[3]) * 60 + numbers[4]) * 60 + numbers[5]
  }
}
