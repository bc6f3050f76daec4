import CaravanClient
import CaravanCrypto

/// SHA-256 of a row's photo, read piece by piece.
func digest(of row: AppRow, in album: Table) async throws -> String {
  var hash = SHA256()
  for try await piece in album.contents(of: "photo", row: row.id) { hash.update(piece) }
  return hash.finalize().description
}
