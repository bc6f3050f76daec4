internal import CaravanModel

/// A cell of a grid over the earth, of 2³² columns and rows, in degrees. Its code takes bits of latitude and
/// longitude by turns (Morton 1966), so that codes with the same first bits are a rectangle, and a region is a few
/// ranges of codes.
struct PlaceCell {
  let latitude: UInt32
  let longitude: UInt32

  init(latitude: UInt32, longitude: UInt32) { (self.latitude, self.longitude) = (latitude, longitude) }

  init(_ place: Location) {
    latitude = Self.step(place.latitude, of: 90)
    longitude = Self.step(place.longitude, of: 180)
  }

  private static func step(_ degrees: Double, of half: Double) -> UInt32 {
    UInt32(min(max((degrees + half) / (2 * half) * 0x1p32, 0), 0x1p32 - 1))
  }

  var code: UInt64 { Self.spread(latitude) << 1 | Self.spread(longitude) }

  /// The bits with a zero between each two.
  private static func spread(_ word: UInt32) -> UInt64 {
    var bits = UInt64(word)
    bits = (bits | bits << 16) & 0x0000_ffff_0000_ffff
    bits = (bits | bits << 8) & 0x00ff_00ff_00ff_00ff
    bits = (bits | bits << 4) & 0x0f0f_0f0f_0f0f_0f0f
    bits = (bits | bits << 2) & 0x3333_3333_3333_3333
    return (bits | bits << 1) & 0x5555_5555_5555_5555
  }
}

/// A rectangle of cells, its edges included.
struct CellRectangle {
  let latitude: ClosedRange<UInt32>
  let longitude: ClosedRange<UInt32>

  init(latitude: ClosedRange<UInt32>, longitude: ClosedRange<UInt32>) {
    (self.latitude, self.longitude) = (latitude, longitude)
  }

  init(_ box: Region.Box) {
    func cell(_ latitude: Double, _ longitude: Double) -> PlaceCell {
      guard
        let place = try? Location(
          latitude: min(max(latitude, -90), 90), longitude: min(max(longitude, -180), 180))
      else { preconditionFailure("a corner is not a number") }
      return PlaceCell(place)
    }
    let low = cell(box.latitudes.lowerBound, box.longitudes.lowerBound)
    let high = cell(box.latitudes.upperBound, box.longitudes.upperBound)
    self.init(latitude: low.latitude...high.latitude, longitude: low.longitude...high.longitude)
  }

  func contains(_ other: CellRectangle) -> Bool {
    latitude.contains(other.latitude.lowerBound) && latitude.contains(other.latitude.upperBound)
      && longitude.contains(other.longitude.lowerBound) && longitude.contains(other.longitude.upperBound)
  }

  func overlaps(_ other: CellRectangle) -> Bool {
    latitude.overlaps(other.latitude) && longitude.overlaps(other.longitude)
  }
}

/// All cells whose codes begin with the same bits.
private struct CellSquare {
  /// The code's first `2 * level` bits, at their place.
  let prefix: UInt64
  let level: Int

  /// What a code of this square may have behind its prefix.
  private var rest: UInt64 { level == 0 ? .max : 1 << UInt64(64 - 2 * level) - 1 }
  var codes: ClosedRange<UInt64> { prefix...(prefix | rest) }

  var quarters: [CellSquare] {
    (0..<4).map { CellSquare(prefix: prefix | UInt64($0) << UInt64(62 - 2 * level), level: level + 1) }
  }

  var rectangle: CellRectangle {
    func gathered(_ code: UInt64) -> UInt32 {
      (0..<32).reduce(UInt32(0)) { $0 | UInt32(truncatingIfNeeded: code >> UInt64(2 * $1) & 1) << UInt32($1) }
    }
    let (low, high) = (codes.lowerBound, codes.upperBound)
    return CellRectangle(
      latitude: gathered(low >> 1)...gathered(high >> 1), longitude: gathered(low)...gathered(high))
  }
}

extension Region {
  /// Ranges of keys that have every place in the region, and some around it.
  /// - Parameter numbers: of the region, checked.
  /// - Returns: at most `most` ranges, ascending.
  func keys(_ numbers: [Double], atMost most: Int = 40) -> [ClosedRange<UInt64>] {
    precondition(most >= 8, "two rectangles, and what is cut in four, have no room in \(most) ranges")
    let targets = boxes(numbers).map(CellRectangle.init)
    var inside: [CellSquare] = []
    // From the largest to the smallest: the one to be cut next stands first.
    var partial = [CellSquare(prefix: 0, level: 0)]
    while let next = partial.first, next.level < 32, inside.count + partial.count + 3 <= most {
      partial.removeFirst()
      for quarter in next.quarters {
        let area = quarter.rectangle
        if targets.contains(where: { $0.contains(area) }) {
          inside.append(quarter)
        } else if targets.contains(where: { $0.overlaps(area) }) {
          partial.append(quarter)
        }
      }
    }
    var ranges: [ClosedRange<UInt64>] = []
    for codes in (inside + partial).map(\.codes).sorted(by: { $0.lowerBound < $1.lowerBound }) {
      if let last = ranges.last, last.upperBound &+ 1 == codes.lowerBound {
        ranges[ranges.count - 1] = last.lowerBound...codes.upperBound
      } else {
        ranges.append(codes)
      }
    }
    return ranges
  }

}

extension Region {
  /// Between two parallels and two meridians, in degrees; the 180th meridian is not within.
  public struct Box: Sendable, Hashable {
    public let latitudes: ClosedRange<Double>
    public let longitudes: ClosedRange<Double>
  }

  /// One or two boxes that have every place in the region, and some around it.
  /// - Parameter numbers: of the region, checked.
  public func boxes(_ numbers: [Double]) -> [Box] {
    switch self {
    case .rectangle:
      return Self.boxes(south: numbers[0], west: numbers[1], north: numbers[2], east: numbers[3])
    case .circle:
      let centre = (latitude: numbers[0], longitude: numbers[1])
      guard let reach = Self.reach(metres: numbers[2], from: centre.latitude) else {
        let whole = Self.latitudes(metres: numbers[2], from: centre.latitude)
        return Self.boxes(south: whole.south, west: -180, north: whole.north, east: 180)
      }
      func onMap(_ longitude: Double) -> Double {
        longitude < -180 ? longitude + 360 : longitude > 180 ? longitude - 360 : longitude
      }
      return Self.boxes(
        south: reach.south, west: onMap(centre.longitude - reach.half), north: reach.north,
        east: onMap(centre.longitude + reach.half))
    }
  }

  private static func boxes(south: Double, west: Double, north: Double, east: Double) -> [Box] {
    guard west > east else { return [Box(latitudes: south...north, longitudes: west...east)] }
    return [
      Box(latitudes: south...north, longitudes: west...180), Box(latitudes: south...north, longitudes: -180...east),
    ]
  }
}
