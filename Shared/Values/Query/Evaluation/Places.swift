internal import CaravanModel
internal import Glibc

extension Location {
  /// The earth's mean radius in metres, R1 of the IUGG (Moritz, Geodetic Reference System 1980).
  static let earthRadius = 6_371_008.8

  /// The great-circle distance in metres, by the haversine formula over a sphere. It is wrong by at most 0.6 %, as the
  /// earth is none.
  func metres(to other: Location) -> Double {
    let (a, b) = (latitude * .pi / 180, other.latitude * .pi / 180)
    let (north, east) = (sin((b - a) / 2), sin((other.longitude - longitude) * .pi / 360))
    let h = north * north + cos(a) * cos(b) * east * east
    return 2 * Self.earthRadius * asin(min(1, h.squareRoot()))
  }
}

extension Region {
  /// How many numbers it has.
  var count: Int {
    switch self {
    case .circle: 3
    case .rectangle: 4
    }
  }

  /// The word of the language.
  var word: String {
    switch self {
    case .circle: "NEAR"
    case .rectangle: "WITHIN"
    }
  }

  /// - Returns: what is wrong with the numbers; nil: nothing.
  func problem(_ numbers: [Double]) -> String? {
    guard numbers.count == count else { return "takes \(count) numbers" }
    switch self {
    case .circle:
      guard (try? Location(latitude: numbers[0], longitude: numbers[1])) != nil else {
        return "takes a latitude of -90 to 90, a longitude of -180 to 180 and a radius in metres"
      }
      return numbers[2] >= 0 ? nil : "takes a radius of 0 metres or more"
    case .rectangle:
      let corners = (
        try? Location(latitude: numbers[0], longitude: numbers[1]),
        try? Location(latitude: numbers[2], longitude: numbers[3])
      )
      guard corners.0 != nil, corners.1 != nil, numbers[0] <= numbers[2] else {
        return "takes south, west, north and east in degrees, and south is not greater than north"
      }
      return nil
    }
  }

  func contains(_ place: Location, _ values: [Value]) -> Bool {
    let numbers = values.compactMap { if case .real(let number) = $0 { number } else { nil } }
    precondition(numbers.count == count, "a region lacks numbers")
    switch self {
    case .circle:
      guard let centre = try? Location(latitude: numbers[0], longitude: numbers[1]) else { return false }
      return place.metres(to: centre) <= numbers[2]
    case .rectangle:
      guard (numbers[0]...numbers[2]).contains(place.latitude) else { return false }
      return numbers[1] <= numbers[3]
        ? (numbers[1]...numbers[3]).contains(place.longitude)
        : place.longitude >= numbers[1] || place.longitude <= numbers[3]
    }
  }
}

extension Region {
  /// Parallels between which a circle lies. It is a little more than the circle, for what is rounded otherwise where
  /// distances are computed.
  static func latitudes(metres: Double, from latitude: Double) -> (south: Double, north: Double) {
    let radius = angle(metres) * 180 / .pi
    return (max(latitude - radius, -90), min(latitude + radius, 90))
  }

  /// The same, and how many degrees of longitude it reaches to each side of its centre.
  /// - Returns: nil: it touches every meridian, as it has a pole in it or nearly so.
  static func reach(metres: Double, from latitude: Double) -> (south: Double, north: Double, half: Double)? {
    let (south, north) = latitudes(metres: metres, from: latitude)
    guard south > -90, north < 90, angle(metres) < .pi / 2 else { return nil }
    // Where a meridian touches the circle (the law of sines for a right-angled spherical triangle).
    let half = asin(min(1, sin(angle(metres)) / cos(latitude * .pi / 180))) * 180 / .pi + 1e-7
    return half < 180 ? (south, north, half) : nil
  }

  private static func angle(_ metres: Double) -> Double { metres / Location.earthRadius * 1.000_001 + 1e-9 }
}
