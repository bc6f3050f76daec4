"""One mutant after the other against the tests of its module and the simulation."""

import concurrent.futures
import os
import random
import re
import selectors
import signal
import subprocess
import threading
import time

from tree import MODULES

COLOUR = re.compile(r"\x1b\[[0-9;]*m")
SIMULATION = "simulation"
# In so many seeds of the simulation a line is reached, or counts as not reached by it; and what a run may take that
# notes what it reaches.
SEEDS_THAT_REACH = 40
SECONDS_TO_REACH = 120
SECONDS_OF_A_SUITE = 60
# A busy machine is not a hang.
LEAST_TO_CALL_IT_A_HANG = 60
SUITE = re.compile(r"^(?:@Suite.*?\s)?(?:final )?(?:struct|class|enum|actor) (\w+(?:Tests|Conformance))\b", re.M)


def read(path):
    """Number of the mutant to (verdict, by what, seconds). A line that was cut off counts for none."""
    results = {}
    if os.path.exists(path):
        with open(path) as file:
            lines = file.read().split("\n")[:-1]
        for words in (line.split("\t") for line in lines):
            if len(words) == 4:
                results[int(words[0])] = (words[1], words[2], float(words[3]))
    return results


def sample(mutants, count, seed, modules=()):
    """Of each module in proportion, as the order is by chance."""
    chosen = [mutant for mutant in mutants if mutant["compiles"]
              and (not modules or any(part in mutant["module"] for part in modules))]
    random.Random(seed).shuffle(chosen)
    return chosen[:count]


def watch(command, environment, seconds, is_failure):
    """Runs until a line is a failure. Returns (failure or None, exit code or None: time was up, lines)."""
    process = subprocess.Popen(
        ["nice", "-n", "19"] + command, env=environment, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT, start_new_session=True)
    end, buffer, lines, failure = time.monotonic() + seconds, b"", [], None
    os.set_blocking(process.stdout.fileno(), False)
    with selectors.DefaultSelector() as selector:
        selector.register(process.stdout, selectors.EVENT_READ)
        while failure is None:
            left = end - time.monotonic()
            if left <= 0:
                break
            if not selector.select(min(left, 1)):
                continue
            data = process.stdout.read()
            if not data:
                break
            buffer += data
            *whole, buffer = buffer.split(b"\n")
            for line in whole:
                line = COLOUR.sub("", line.decode(errors="replace"))
                lines.append(line)
                failure = failure or is_failure(line)
    is_over = failure is None and time.monotonic() >= end
    if failure is None and not is_over:
        process.wait()
    try:
        os.killpg(process.pid, signal.SIGKILL)
    except ProcessLookupError:
        pass
    process.wait()
    process.stdout.close()
    return failure, None if is_over or failure else process.returncode, lines


def of_test(line):
    return line.strip()[:160] if line.startswith("✘") else None


def of_seed(line):
    return line[:160] if line.startswith("! ") else None


class Trial:
    def __init__(self, tree, options):
        self.tree, self.options, self.found, self.reached, self.seconds = tree, options, {}, {}, {}

    def environment(self, mutant):
        return os.environ | {
            "CARAVAN_MUTANT": str(mutant["number"]), "SWIFT_DETERMINISTIC_HASHING": "1",
            "SWIFT_BACKTRACE": "enable=no"}

    def run_tests(self, mutant):
        """The suites that reach its line, quick ones first, for as long as a mutant is given."""
        start = time.monotonic()
        reaching = [suite for target in MODULES[mutant["module"]] for suite in self.suites(target)
                    if mutant["number"] in self.reached[suite]]
        tried = 0
        for suite in sorted(reaching, key=lambda suite: self.seconds[suite]):
            if time.monotonic() - start > self.options.seconds:
                break
            tried += 1
            found = self.tests(mutant, suite)
            # Under load a test of patience fails for no reason: what fails is to fail twice.
            if found and self.tests(mutant, suite):
                return "killed", f"{suite}: {found}"
        return "passed", f"{tried} of {len(reaching)} suites that reach it"

    def run_simulation(self, mutant):
        if mutant["number"] in self.reached[SIMULATION]:
            return self.simulation(mutant)
        if any(mutant["number"] in reached for reached in self.reached.values()):
            return "survived", "not reached by the simulation"
        return "survived", "not reached"

    def suites(self, target):
        """As the tests' own files have them."""
        if target not in self.found:
            folder = next(f"{self.tree}/Tests/{kind}/{target[:-len('Tests')]}" for kind in ("Unit", "Component")
                          if os.path.isdir(f"{self.tree}/Tests/{kind}/{target[:-len('Tests')]}"))
            names = set()
            for path, _, files in os.walk(folder):
                for name in files:
                    with open(f"{path}/{name}") as file:
                        names |= set(SUITE.findall(file.read()))
            self.found[target] = [f"{target}.{name}" for name in sorted(names)]
        return self.found[target]

    def reach(self, directory, mutants, has_simulation):
        """Which mutants' lines each suite reaches, and the simulation: others need not be run against them."""
        os.makedirs(directory, exist_ok=True)
        targets = sorted({target for mutant in mutants for target in MODULES[mutant["module"]]})
        names = [suite for target in targets for suite in self.suites(target)] + [SIMULATION] * has_simulation
        with concurrent.futures.ThreadPoolExecutor(self.options.jobs) as pool:
            for future in [pool.submit(self.reach_one, directory, name) for name in names]:
                future.result()

    def reach_one(self, directory, name):
        path = f"{directory}/{name}"
        if not os.path.exists(path):
            with open(f"{path}.new", "w"):
                pass
            start = time.monotonic()
            failure, code, _ = watch(
                self.of_seeds(SEEDS_THAT_REACH) if name == SIMULATION else self.of_suite(name),
                self.environment({"number": 0}) | {"CARAVAN_MUTANTS_REACHED": f"{path}.new"}, SECONDS_TO_REACH,
                of_seed if name == SIMULATION else of_test)
            with open(f"{path}.new") as file:
                numbers = file.read()
            if failure or code:  # It would find every mutant.
                print(f"{name} fails without a mutant, and is left out: {failure or f'exit code {code}'}", flush=True)
                numbers = ""
            with open(f"{path}.new", "w") as file:
                file.write(f"seconds {time.monotonic() - start:.2f}\n{numbers}")
            os.replace(f"{path}.new", path)
        with open(path) as file:
            first, *lines = file.read().split("\n")
        self.seconds[name] = float(first.split()[1])
        self.reached[name] = {int(line) for line in lines if line.isdigit()}

    def tests(self, mutant, suite):
        failure, code, _ = watch(self.of_suite(suite), self.environment(mutant), SECONDS_OF_A_SUITE, of_test)
        if failure:
            return failure
        if code is None:
            return f"not over in {SECONDS_OF_A_SUITE} s"
        return f"exit code {code}" if code else None

    def of_suite(self, suite):
        return [f"{self.tree}/.build/debug/caravanPackageTests.xctest", "--testing-library", "swift-testing",
                "--filter", f"^{re.escape(suite)}/"]

    def of_seeds(self, count):
        return [f"{self.tree}/.build/{self.options.simulation}/caravan-simulation", "--worker", f"1,{count},1"]

    def simulation(self, mutant):
        failure, code, lines = watch(self.of_seeds(self.options.seeds), self.environment(mutant), self.options.seconds, of_seed)
        ended = sum(line.startswith("end ") for line in lines)
        if not (failure or code or ended) and self.options.seconds < LEAST_TO_CALL_IT_A_HANG:
            return "survived", f"no seed ended within {self.options.seconds} s"
        if failure or code or not ended:
            return "killed", f"simulation: {failure or f'exit code {code}'} (after {ended} seeds)"
        return "survived", f"{ended} seeds"


def play(tree, mutants, path, options, stages):
    """Stages: `tests` and `simulation`. Whatever passes the first is run by the second."""
    if os.path.exists(path) and not open(path).read().endswith("\n"):
        with open(path, "a") as file:
            file.write("\n")
    trial, directory = Trial(tree, options), f"{options.directory}/reached"
    chosen = sample(mutants, options.sample, options.seed, options.modules)
    if "tests" in stages:
        trial.reach(directory, chosen, False)
        known = read(path)
        go(trial.run_tests, [mutant for mutant in chosen if mutant["number"] not in known], path, options.jobs)
    if "simulation" in stages:
        trial.reach(directory, chosen, True)
        known = read(path)
        go(trial.run_simulation,
           [mutant for mutant in chosen if known.get(mutant["number"], ("",))[0] == "passed"], path, options.jobs)


def go(run, mutants, path, jobs):
    lock = threading.Lock()

    def one(mutant):
        start = time.monotonic()
        verdict, by = run(mutant)
        by = by.replace("\t", " ")
        with lock, open(path, "a") as file:
            file.write(f"{mutant['number']}\t{verdict}\t{by}\t{time.monotonic() - start:.1f}\n")
            file.flush()
            os.fsync(file.fileno())
        print(f"{mutant['number']} {mutant['file']}:{mutant['line']} {mutant['kind']}: {verdict}, {by}", flush=True)

    with concurrent.futures.ThreadPoolExecutor(jobs) as pool:
        for future in [pool.submit(one, mutant) for mutant in mutants]:
            future.result()
