"""One mutant after the other against the tests of its module and the simulation."""

import concurrent.futures
import os
import random
import selectors
import signal
import subprocess
import threading
import time

from tree import MODULES

# What the tests of a module may take. A test target that takes longer without a failure has not noticed.
HANG = 1.0


def read(path):
    """Number of the mutant to (verdict, by what, seconds). A line that was cut off counts for none."""
    results = {}
    if os.path.exists(path):
        for line in open(path).read().split("\n")[:-1]:
            words = line.split("\t")
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
                line = line.decode(errors="replace")
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
    return failure, None if is_over or failure else process.returncode, lines


def of_test(line):
    return line.strip()[:160] if line.startswith("✘") else None


def of_seed(line):
    return line[:160] if line.startswith("! ") else None


class Trial:
    def __init__(self, tree, options):
        self.tree, self.options = tree, options

    def environment(self, mutant):
        return os.environ | {
            "CARAVAN_MUTANT": str(mutant["number"]), "SWIFT_DETERMINISTIC_HASHING": "1",
            "SWIFT_BACKTRACE": "enable=no"}

    def run(self, mutant):
        for target in MODULES[mutant["module"]]:
            found = self.tests(mutant, target)
            # Under load a test of patience fails for no reason: what fails is to fail twice.
            if found and self.tests(mutant, target):
                return "killed", f"{target}: {found}"
        return self.simulation(mutant)

    def tests(self, mutant, target):
        command = [
            f"{self.tree}/.build/debug/caravanPackageTests.xctest", "--testing-library", "swift-testing", "--filter",
            f"^{target}\\."]
        failure, code, lines = watch(command, self.environment(mutant), self.options.seconds, of_test)
        if failure:
            return failure
        if code is None:
            return None if sum(line.startswith("✔") for line in lines) > 0 else "nothing ended"
        return f"exit code {code}" if code else None

    def simulation(self, mutant):
        command = [f"{self.tree}/.build/release/caravan-simulation", "--worker", f"1,{self.options.seeds},1"]
        failure, code, lines = watch(command, self.environment(mutant), self.options.seconds, of_seed)
        ended = sum(line.startswith("end ") for line in lines)
        if failure or code or not ended:
            return "killed", f"simulation: {failure or f'exit code {code}'} (after {ended} seeds)"
        return "survived", f"{ended} seeds"


def play(tree, mutants, path, options):
    results, lock = read(path), threading.Lock()
    if os.path.exists(path) and not open(path).read().endswith("\n"):
        with open(path, "a") as file:
            file.write("\n")
    waiting = [mutant for mutant in sample(mutants, options.sample, options.seed) if mutant["number"] not in results]
    trial = Trial(tree, options)

    def run(mutant):
        start = time.monotonic()
        verdict, by = trial.run(mutant)
        by = by.replace("\t", " ")
        with lock, open(path, "a") as file:
            file.write(f"{mutant['number']}\t{verdict}\t{by}\t{time.monotonic() - start:.1f}\n")
            file.flush()
            os.fsync(file.fileno())
        print(f"{mutant['number']} {mutant['file']}:{mutant['line']} {mutant['kind']}: {verdict}, {by}", flush=True)

    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        for future in [pool.submit(run, mutant) for mutant in waiting]:
            future.result()
