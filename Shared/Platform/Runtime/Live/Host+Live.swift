extension Host {
  /// The real machine: its clocks, its randomness, its threads, JSON lines on standard error.
  public static func live(logLevel: LogLevel = .info) -> Host {
    let clock = SystemClock()
    return Host(
      clock: clock, random: SystemRandom(), executors: ThreadExecutors(),
      log: Log(level: logLevel, clock: clock, sink: DescriptorLogSink.standardError), metrics: MetricsRegistry(),
      process: .current)
  }
}
