extension Host {
  /// The metrics of the process as of now, its memory among them.
  public func snapshotMetrics() -> MetricsSnapshot {
    if let bytes = process.residentBytes { metrics.gauge(.residentBytes).set(bytes) }
    return metrics.snapshot()
  }
}

extension GaugeName {
  static let residentBytes = GaugeName("caravan_process_resident_memory_bytes", "Memory of the process in RAM.")
}
