"""What came of the mutants: the score by module, and each survivor as a diff."""

from tree import MODULES, diff


def tell(root, mutants, results):
    print("| module | generated | compile | run | killed | score |\n|---|---|---|---|---|---|")
    rows = [[module, *figures([m for m in mutants if m["module"] == module], results)] for module in MODULES]
    rows.append(["all", *figures(mutants, results)])
    for row in rows:
        print("| " + " | ".join(str(cell) for cell in row) + " |")
    for mutant in mutants:
        verdict, by, _ = results.get(mutant["number"], ("", "", 0))
        if verdict in ("survived", "passed"):
            before, after = diff(root, mutant)
            print(f"\n{mutant['number']} {mutant['file']}:{mutant['line']} {mutant['kind']} ({by})")
            print(f"-  {before}\n+  {after}")
    return 0


def figures(mutants, results):
    run = [mutant for mutant in mutants if mutant["number"] in results]
    killed = sum(results[mutant["number"]][0] == "killed" for mutant in run)
    score = f"{100 * killed // len(run)} %" if run else ""
    return len(mutants), sum(mutant["compiles"] for mutant in mutants), len(run), killed, score
