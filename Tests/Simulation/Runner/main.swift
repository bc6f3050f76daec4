import CaravanRuntime
import CaravanSimulation
import Foundation

let single = Flag<Int?>("seed", "N", "play this seed only, and show its trace if it fails", environment: "SIM_SEED")
let count = Flag<Int>("seeds", "N", "how many seeds to play", default: 100, in: 1...100_000_000)
let first = Flag<Int>("from", "N", "the first of them", default: 1, in: 0...100_000_000)
let jobs = Flag<Int>("jobs", "N", "processes at once", default: 1, in: 1...256)
let shows = Flag<Bool>("trace", "print everything that happens, as it happens")
let breaks = Flag<String?>("break", "WHAT", "break the product on purpose: \(Breakage.names)")
let stops = Flag<Bool>("stop", "end at the first violation")
let canaries = Flag<Bool>(
  "canaries", "break the product in every way instead, each to be found in \(Canaries.seeds) seeds")
let twice = Flag<Bool>(
  "twice", "play each seed twice, with other contents of one user: devices of others must get the same (TRU-01)")
let fleet = Flag<Int>(
  "fleet", "AGENTS", "play weeks of a fleet of so many devices instead (BEN-17)", default: 0, in: 0...10_000)
let days = Flag<Int>("days", "N", "how long the fleet is used", default: 60, in: 1...366)
let vary = Flag<String?>(
  "vary", "CHANGES", "play other clusters of the seeds: fault-seed=SEED,time=PERCENT,devices=±N,faults=N,without=RARE+…"
)
let campaign = Flag<Double>(
  "campaign", "HOURS", "choose clusters by what they show that none before did, and make failures small", default: 0)
let directory = Flag<String>(
  "directory", "PATH", "where a campaign is kept, and goes on from", default: ".build/campaign")
let survey = Flag<Bool>("survey", "report states and transitions, for the process above")
let worker = Flag<String?>("worker", "FIRST,LAST,STEP", "play these and report by line, for the process above")

let command = Command(
  "caravan-simulation", "Plays the whole suite and its devices in one process, once for each seed.",
  flags: [
    single, count, first, jobs, shows, breaks, stops, twice, canaries, fleet, days, vary, campaign, directory, survey,
    worker,
  ])

let options: Options
do {
  options = try command.parse(
    Array(CommandLine.arguments.dropFirst()), environment: ProcessInfo.processInfo.environment)
} catch {
  switch error {
  case .help(let text):
    print(text)
    exit(ExitCode.success)
  case .usage(let text):
    FileHandle.standardError.write(Data("\(text)\n".utf8))
    exit(ExitCode.usage)
  }
}

let breakage = options[breaks].flatMap(Breakage.init(rawValue:))
if let text = options[breaks], breakage == nil {
  FileHandle.standardError.write(Data("caravan-simulation: --break: '\(text)' is none of \(Breakage.names)\n".utf8))
  exit(ExitCode.usage)
}

guard let variation = Variation(options[vary] ?? "") else {
  FileHandle.standardError.write(Data("caravan-simulation: --vary: '\(options[vary] ?? "")' is no change\n".utf8))
  exit(ExitCode.usage)
}

if let range = options[worker] {
  exit(
    Worker(breakage: breakage, isTwice: options[twice], variation: variation, isSurveyed: options[survey]).play(range))
}
if options[campaign] > 0 {
  exit(
    Campaigns(directory: options[directory], breakage: options[breaks], jobs: options[jobs])
      .play(hours: options[campaign]))
}
if options[canaries] { exit(Canaries(jobs: max(options[jobs], 2)).play()) }
if options[fleet] > 0 {
  let seed = UInt64(options[single] ?? 1)
  exit(Weeks(agents: options[fleet], days: options[days], seed: seed, shows: options[shows]).play())
}
let workers = Workers(
  breakage: options[breaks], isTwice: options[twice], shows: options[shows], stops: options[stops],
  variation: variation.text)
if let seed = options[single] {
  exit(workers.play(first: seed, count: 1, jobs: 1))
}
exit(workers.play(first: options[first], count: options[count], jobs: options[jobs]))
