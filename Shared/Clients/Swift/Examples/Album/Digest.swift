import CLibCrypto
import CaravanClient

/// SHA-256 of a row's photo in hexadecimal digits, read piece by piece.
func digest(of row: AppRow, in album: Table) async throws -> String {
  guard let context = EVP_MD_CTX_new() else { throw CaravanError(.internalError, "there is no memory for a digest") }
  defer { EVP_MD_CTX_free(context) }
  EVP_DigestInit_ex(context, EVP_sha256(), nil)
  for try await piece in album.contents(of: "photo", row: row.id) { EVP_DigestUpdate(context, piece, piece.count) }
  var bytes = [UInt8](repeating: 0, count: Int(EVP_MAX_MD_SIZE))
  var count: UInt32 = 0
  EVP_DigestFinal_ex(context, &bytes, &count)
  let digits = Array("0123456789abcdef")
  return String(bytes.prefix(Int(count)).flatMap { [digits[Int($0 >> 4)], digits[Int($0 & 15)]] })
}
