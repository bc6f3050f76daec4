"""The copy of the tree with its mutants: which there are, and a build in which all of them compile."""

import json
import os
import random
import re
import subprocess

from mutations import rewritten, slots_of

# Which folders have mutants, and the test targets that are to find them, quick ones first.
MODULES = {
    "Services/Agent/Core": ["AgentCoreTests", "AgentTests"],
    "Services/Agent/Store": ["AgentTests"],
    "Services/Agent/Network": ["AgentTests"],
    "Services/Agent/Sync": ["AgentTests"],
    "Services/Agent/Apps": ["AgentTests"],
    "Services/CLI/Core": ["CLICoreTests", "CLITests"],
    "Services/Gateway/Core": ["GatewayTests"],
    "Services/Notify/Core": ["NotifyCoreTests", "NotifyTests"],
    "Services/Query/Core": ["QueryTests"],
    "Services/Schema/Core": ["SchemaCoreTests"],
    "Services/Storage/Core": ["StorageTests"],
    "Services/Sync/Core": ["SyncCoreTests", "SyncTests"],
    "Services/Sync/Driver": ["SyncTests"],
    "Shared/Storage/Store": ["StoreTests", "StorageTests"],
    "Shared/Storage/StorePostgres": ["StoreTests"],
    "Shared/Storage/StoreSQLite": ["StoreTests", "StorageTests"],
}
MOST_OF_A_PLACE = 2

SWITCH = """import Foundation
import Synchronization

/// The mutant that is in effect: one of a process, as its environment says.
let mutantInEffect = Int(ProcessInfo.processInfo.environment["CARAVAN_MUTANT"] ?? "") ?? 0

/// Where the numbers of mutants go whose lines are reached; nil: nowhere.
let mutantsReachedPath = ProcessInfo.processInfo.environment["CARAVAN_MUTANTS_REACHED"]
private let reached = Mutex<Set<Int>>([])

@inline(__always) func mutant(_ number: Int) -> Bool {
  if let mutantsReachedPath { noteMutant(number, mutantsReachedPath) }
  return number == mutantInEffect
}

func noteMutant(_ number: Int, _ path: String) {
  reached.withLock { reached in
    guard reached.insert(number).inserted, let file = FileHandle(forUpdatingAtPath: path) else { return }
    _ = try? file.seekToEnd()
    try? file.write(contentsOf: Data("\\(number)\\n".utf8))
    try? file.close()
  }
}
"""


def generate(root, count, seed):
    """So many mutants, of each module as many as it has of the square root of its places: small ones matter too."""
    dice = random.Random(seed)
    places = {}
    for module in MODULES:
        places[module] = []
        for folder, _, names in sorted(os.walk(f"{root}/{module}")):
            for name in sorted(names):
                if name.endswith(".swift") and name != "Mutants.swift":
                    path = f"{folder}/{name}"
                    text = open(path).read()
                    places[module] += [(os.path.relpath(path, root), *place) for place in slots_of(text)]
    total = sum(len(places[module]) ** 0.5 for module in places)
    mutants = []
    for module, all_places in places.items():
        share = max(10, round(count * len(all_places) ** 0.5 / total))
        for file, line, slot in dice.sample(all_places, min(share, len(all_places))):
            for kind, text in dice.sample(slot.changes, min(MOST_OF_A_PLACE, len(slot.changes)))[:1 + dice.randrange(2)]:
                mutants.append({
                    "number": len(mutants) + 1, "module": module, "file": file, "line": line + 1, "kind": kind,
                    "start": slot.start, "end": slot.end, "form": slot.form, "text": text, "compiles": True})
    return mutants


def diff(root, mutant):
    """The line before and after."""
    line = open(f"{root}/{mutant['file']}").read().split("\n")[mutant["line"] - 1]
    after = line[:mutant["start"]] + mutant["text"] + line[mutant["end"]:]
    return line.strip(), after.strip()


class Part:
    def __init__(self, mutant):
        self.start, self.end, self.form = mutant["start"], mutant["end"], mutant["form"]


def apply(root, tree, mutants):
    """Writes into the tree what compiles of the mutants, each line where it was; what stays the same keeps its time."""
    files = {}
    for mutant in mutants:
        files.setdefault(mutant["file"], []).append(mutant)
    for file, all_of_it in files.items():
        lines = open(f"{root}/{file}").read().split("\n")
        places = {}
        for mutant in all_of_it:
            if mutant["compiles"]:
                place = (mutant["line"], mutant["start"], mutant["end"])
                places.setdefault(mutant["line"], {}).setdefault(place, []).append(mutant)
        for number, slots in places.items():
            lines[number - 1] = rewritten(
                lines[number - 1],
                [(Part(of[0]), [(mutant["number"], mutant["text"]) for mutant in of]) for of in slots.values()])
        write(f"{tree}/{file}", "\n".join(lines))
    for module in MODULES:
        write(f"{tree}/{module}/Mutants.swift", SWITCH)


def write(path, text):
    if not os.path.isdir(os.path.dirname(path)) or os.path.exists(path) and open(path).read() == text:
        return
    with open(path, "w") as file:
        file.write(text)


def drop(tree, mutants, output):
    """Drops what the compiler refuses. An error on a line without mutants counts against the nearest before it."""
    gone = set()
    for path, line in set(re.findall(r"^(/[^:\n]+\.swift):(\d+):\d+: error:", output, re.M)):
        line, file = int(line), os.path.relpath(path, tree)
        here = [mutant for mutant in mutants if mutant["file"] == file and mutant["compiles"]]
        at = [mutant for mutant in here if mutant["line"] == line]
        if not at and here:
            before = [mutant["line"] for mutant in here if mutant["line"] < line]
            nearest = max(before) if before else min(mutant["line"] for mutant in here)
            at = [mutant for mutant in here if mutant["line"] == nearest]
        gone |= {mutant["number"] for mutant in at}
    for mutant in mutants:
        mutant["compiles"] = mutant["compiles"] and mutant["number"] not in gone
    return len(gone)


def commands(tree):
    """How the package manager compiles each module of those that have mutants: {folder: arguments of swiftc}."""
    found = {}
    if not os.path.exists(f"{tree}/.build/debug.yaml"):
        return found
    text = open(f"{tree}/.build/debug.yaml").read()
    for inputs, arguments in re.findall(r'\n    inputs: (\[.*\])\n(?:.*\n){2,4}?    args: (\["[^"]*swiftc",.*\])', text):
        for module in MODULES:
            if f'"{tree}/{module}/Mutants.swift"' in inputs:
                found[module] = json.loads(arguments)
    return found


ALONE = {"-emit-dependencies", "-emit-module", "-incremental", "-c", "-enable-batch-mode", "-serialize-diagnostics",
         "-parseable-output", "-emit-objc-header"}
WITH_VALUE = {"-emit-module-path", "-output-file-map", "-index-store-path", "-emit-objc-header-path"}


def only_diagnoses(arguments, how):
    kept, skips = [], False
    for argument in arguments:
        if skips:
            skips = False
        elif argument in WITH_VALUE:
            skips = True
        elif argument not in ALONE:
            kept.append(argument)
    return kept + how


def check(root, tree, mutants, save, log):
    """Asks the compiler about each module until it refuses nothing, first for types, then for what it finds later."""
    done = f"{log}.checked"
    checked = open(done).read().split("\n") if os.path.exists(done) else []
    for module, arguments in commands(tree).items():
        if module in checked:
            continue
        of = [mutant for mutant in mutants if mutant["module"] == module]
        for how in (["-typecheck"], ["-wmo", "-emit-sil", "-o", "/dev/null"]):
            gone = 1
            while gone:
                apply(root, tree, mutants)
                result = subprocess.run(
                    only_diagnoses(arguments, how), cwd=tree, text=True, stdout=subprocess.PIPE,
                    stderr=subprocess.STDOUT)
                with open(log, "a") as file:
                    file.write(f"== {module} {how}\n{result.stdout}")
                gone = drop(tree, of, result.stdout) if result.returncode else 0
                save()
        with open(done, "a") as file:
            file.write(f"{module}\n")
        print(f"{module}: {sum(mutant['compiles'] for mutant in of)} of {len(of)} compile", flush=True)


def build(root, tree, mutants, save, jobs, log, stages):
    """Builds the tests for debugging and the simulation for speed, until nothing is refused."""
    tests = ["swift", "build", "-j", str(jobs), "--build-tests"]
    simulation = [
        "swift", "build", "-j", str(jobs), "-c", "release", "--static-swift-stdlib", "--product", "caravan-simulation"]
    steps = [step for stage, step in (("tests", tests), ("simulation", simulation)) if stage in stages]
    # First as it is, with the switch: what depends on a module then takes it for what it was.
    if len(commands(tree)) < len(MODULES):
        apply(root, tree, [])
    if len(commands(tree)) < len(MODULES):
        subprocess.run(tests, cwd=tree, check=True)
    check(root, tree, mutants, save, log)
    while True:
        apply(root, tree, mutants)
        for step in steps:
            with open(log, "a") as file:
                file.write(f"== {' '.join(step)}\n")
                file.flush()
                result = subprocess.run(
                    step, cwd=tree, text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
                file.write(result.stdout)
            if result.returncode:
                gone = drop(tree, mutants, result.stdout)
                save()
                print(f"{gone} mutants do not compile", flush=True)
                if not gone:
                    raise SystemExit(f"the build fails for another reason: {log}")
                break
        else:
            return
