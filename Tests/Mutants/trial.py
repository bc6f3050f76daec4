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
# In so many seeds of the simulation a line is reached, or counts as not reached by it; and what a run of a target's
# tests may take that notes what they reach.
SEEDS_THAT_REACH = 40
SECONDS_TO_REACH = 300


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


def sample(mutants, count, seed):
    """Of each module in proportion, as the order is by chance."""
    chosen = [mutant for mutant in mutants if mutant["compiles"]]
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
        self.tree, self.options, self.reached = tree, options, {}

    def environment(self, mutant):
        return os.environ | {
            "CARAVAN_MUTANT": str(mutant["number"]), "SWIFT_DETERMINISTIC_HASHING": "1",
            "SWIFT_BACKTRACE": "enable=no"}

    def run_tests(self, mutant):
        """Of the module, quick ones first."""
        for target in MODULES[mutant["module"]]:
            if mutant["number"] in self.reached[target]:
                found = self.tests(mutant, target)
                # Under load a test of patience fails for no reason: what fails is to fail twice.
                if found and self.tests(mutant, target):
                    return "killed", f"{target}: {found}"
        return "passed", "the tests"

    def run_simulation(self, mutant):
        if mutant["number"] in self.reached[SIMULATION]:
            return self.simulation(mutant)
        if any(mutant["number"] in reached for reached in self.reached.values()):
            return "survived", "not reached by the simulation"
        return "survived", "not reached"

    def reach(self, directory, targets):
        """Which mutants' lines each target's tests reach, and the simulation: others need not be run against them."""
        os.makedirs(directory, exist_ok=True)
        for target in targets:
            path = f"{directory}/{target}"
            if not os.path.exists(path):
                open(f"{path}.new", "w").close()
                environment = self.environment({"number": 0}) | {"CARAVAN_MUTANTS_REACHED": f"{path}.new"}
                command = self.seeds(SEEDS_THAT_REACH) if target == SIMULATION else self.of_target(target)
                failure, code, _ = watch(
                    command, environment, SECONDS_TO_REACH, of_seed if target == SIMULATION else lambda line: None)
                print(f"{target} without a mutant: {'passes' if code == 0 else failure or f'exit code {code}'}", flush=True)
                if failure or code:  # It would find every mutant.
                    open(f"{path}.new", "w").close()
                os.replace(f"{path}.new", path)
            self.reached[target] = {int(line) for line in open(path).read().split("\n") if line.isdigit()}

    def tests(self, mutant, target):
        failure, code, lines = watch(self.of_target(target), self.environment(mutant), self.options.seconds, of_test)
        if failure:
            return failure
        if code is None:
            return None if sum(line.startswith("✔") for line in lines) > 0 else "nothing ended"
        return f"exit code {code}" if code else None

    def of_target(self, target):
        return [f"{self.tree}/.build/debug/caravanPackageTests.xctest", "--testing-library", "swift-testing",
                "--filter", f"^{target}\\."]

    def seeds(self, count):
        return [f"{self.tree}/.build/release/caravan-simulation", "--worker", f"1,{count},1"]

    def simulation(self, mutant):
        failure, code, lines = watch(self.seeds(self.options.seeds), self.environment(mutant), self.options.seconds, of_seed)
        ended = sum(line.startswith("end ") for line in lines)
        if failure or code or not ended:
            return "killed", f"simulation: {failure or f'exit code {code}'} (after {ended} seeds)"
        return "survived", f"{ended} seeds"


TESTS = sorted({name for targets in MODULES.values() for name in targets})


def play(tree, mutants, path, options, stages):
    """Stages: `tests` and `simulation`. Whatever passes the first is run by the second."""
    if os.path.exists(path) and not open(path).read().endswith("\n"):
        with open(path, "a") as file:
            file.write("\n")
    trial, directory = Trial(tree, options), f"{options.directory}/reached"
    chosen = sample(mutants, options.sample, options.seed)
    if "tests" in stages:
        trial.reach(directory, TESTS)
        known = read(path)
        go(trial.run_tests, [mutant for mutant in chosen if mutant["number"] not in known], path, options.jobs)
    if "simulation" in stages:
        trial.reach(directory, TESTS + [SIMULATION])
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
