import CaravanCrypto
import CaravanLaunch
import CaravanModel
import CaravanRuntime
import Glibc

let ticketKey = Flag<String>(
  "ticket-key", "FILE", "the keys of the suite's change tokens: of one that caravan up runs, token.key")
let credentials = Flag<[String]>("creds", "FILE[,FILE]", "credentials of devices, one a client")
let brokers = Flag<[String]>("nats", "URL[,URL]", "where the broker is")
let seconds = Flag<Int>("seconds", "N", "how long clients go on", default: 12, in: 1...3_600)
let seed = Flag<Int>("seed", "N", "what they do", default: 1, in: 0...1_000_000)
let cycles = Flag<Int>("cycles", "N", "how often storage is killed", default: 10, in: 1...100_000)
let records = Flag<Int>("records", "N", "records that are there before", default: 20_000, in: 0...10_000_000)
let within = Flag<Int?>("within", "MS", "fails when commits go on later than so long after a kill")
let programs = Flag<String>("bin", "DIR", "where caravan-storage is")
let work = Flag<String>("work", "DIR", "where its data go")

let commands = CommandSet(
  "caravan-trials", "Real processes, what happens to them, and whether every promise is kept.",
  [
    Command(
      "caravan-trials history", "Clients of one zone write down what they see, while processes are paused and killed.",
      flags: [brokers, credentials, ticketKey, seconds, seed]),
    Command(
      "caravan-trials storm", "kill -9 of storage in the middle of commits.",
      flags: [brokers, programs, work, ticketKey, cycles, records, within]),
  ])

func perform(_ command: Command, _ options: Options) async throws -> Bool {
  let host = Host.live(logLevel: .error)
  guard command.name.hasSuffix("storm") else {
    var devices: [Credentials] = []
    for file in options[credentials] { devices.append(try Credentials.reading(file)) }
    return try await HistoryTrial(
      urls: options[brokers], credentials: devices, key: KeyRing.reading(options[ticketKey]),
      seconds: options[seconds], seed: UInt64(options[seed]), host: host
    ).run()
  }
  let storage = StorageProcess(
    "\(options[programs])/caravan-storage",
    [
      "--nats", options[brokers].joined(separator: ","), "--data", "\(options[work])/data", "--ticket-key",
      options[ticketKey], "--log-level", "warning",
    ], log: "\(options[work])/storage.log")
  defer { storage.kill() }
  return try await StormTrial(
    urls: options[brokers], storage: storage, cycles: options[cycles], records: options[records],
    limit: options[within].map { .milliseconds(Int64($0)) }, host: host
  ).run()
}

signal(SIGPIPE, SIG_IGN)
Program.run { arguments in
  do {
    let (command, rest) = try commands.select(arguments)
    return try await perform(command, command.parse(rest)) ? ExitCode.success : ExitCode.failure
  } catch let stop as CommandLineStop {
    return stop.report()
  } catch {
    print("the trial did not end: \(error)")
    return ExitCode.failure
  }
}
