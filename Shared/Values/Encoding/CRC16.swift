/// CRC-16/XMODEM: polynomial 0x1021, initial value 0, no reflection. Check value of "123456789": 0x31C3.
public enum CRC16 {
  public static func xmodem(_ bytes: some Sequence<UInt8>) -> UInt16 {
    var crc: UInt16 = 0
    for byte in bytes {
      crc ^= UInt16(byte) << 8
      for _ in 0..<8 {
        crc = crc & 0x8000 == 0 ? crc << 1 : (crc << 1) ^ 0x1021
      }
    }
    return crc
  }
}
