"""What can be changed in a line of Swift: found by its text alone; the compiler says what was none."""

import re

COMPARISONS = {"<": "<=", "<=": "<", ">": ">=", ">=": ">", "==": "!=", "!=": "=="}
OPERATORS = COMPARISONS | {"&&": "||", "||": "&&", "+": "-", "-": "+", "*": "+", "..<": "..."}
OPERATOR = re.compile(r"(?<= )(<=|>=|==|!=|&&|\|\||<|>|\+|-|\*)(?= )|(?<=[\w)])\.\.<(?=[\w(])")
CALL = re.compile(r"((try|await|_ =) )*[A-Za-z_][\w.?!]*(\[[^\]]*\][\w.?!]*)?\(.*\)$")
ASSIGNMENT = re.compile(r"[A-Za-z_][\w.?!]*(\[[^\]]*\][\w.?!]*)* ([-+&|]?=) \S.*$")
# What only tells people, or ends the process where the code is wrong: no test is to hold it.
TOLD = re.compile(r"\blog\b|\bmetrics?\b|precondition|assert|fatalError|\bsuper\.init|\bself\.init|unlock\(|\.init\(")
PAIR = re.compile(r"(?<=[(\s])((?:\w+: )?)([a-zA-Z_][\w.]*), ((?:\w+: )?)([a-zA-Z_][\w.]*)(?=[,)])")


def masked(text):
    """The text with comments and the insides of strings blanked, character by character."""
    out, i, n = list(text), 0, len(text)

    def blank(a, b):
        for k in range(a, min(b, n)):
            if out[k] != "\n":
                out[k] = "s"

    while i < n:
        two = text[i:i + 2]
        if two == "//":
            end = text.find("\n", i)
            end = n if end < 0 else end
            for k in range(i, end):
                out[k] = " "
            i = end
        elif two == "/*":
            end = text.find("*/", i) + 2
            for k in range(i, end):
                out[k] = out[k] if out[k] == "\n" else " "
            i = end
        elif text[i] == '"':
            end = string_end(text, i)
            blank(i + 1, end - 1)
            i = end
        else:
            i += 1
    return "".join(out)


def string_end(text, start):
    quote = '"""' if text.startswith('"""', start) else '"'
    i = start + len(quote)
    while i < len(text):
        if text.startswith("\\(", i):
            depth, i = 1, i + 2
            while depth and i < len(text):
                if text[i] == '"':
                    i = string_end(text, i)
                    continue
                depth += {"(": 1, ")": -1}.get(text[i], 0)
                i += 1
        elif text[i] == "\\":
            i += 2
        elif text.startswith(quote, i):
            return i + len(quote)
        else:
            i += 1
    return i


def closing(text, start, ends):
    """Where one of `ends` begins outside of all brackets, from `start`; -1: nowhere."""
    depth = 0
    for i in range(start, len(text)):
        if depth == 0 and any(text.startswith(end, i) for end in ends):
            return i
        depth += {"(": 1, "[": 1, "{": 1, ")": -1, "]": -1, "}": -1}.get(text[i], 0)
        if depth < 0:
            return -1
    return -1


def is_balanced(text):
    depth = 0
    for character in text:
        depth += {"(": 1, "[": 1, "{": 1, ")": -1, "]": -1, "}": -1}.get(character, 0)
        if depth < 0:
            return False
    return depth == 0


def expression_changes(text, mask):
    """Other expressions in place of this one: (kind, text)."""
    found = []
    for match in OPERATOR.finditer(mask):
        operator = match.group(0)
        other = OPERATORS[operator]
        found.append((f"{operator} is {other}", text[:match.start()] + other + text[match.end():]))
    for match in PAIR.finditer(mask):
        first, second = match.group(2), match.group(4)
        # The smaller of two is the same, whichever is named first.
        if first != second and not re.search(r"\b(min|max)\($", mask[:match.start()]):
            changed = match.group(1) + second + ", " + match.group(3) + first
            found.append(("swapped arguments", text[:match.start()] + changed + text[match.end():]))
    for match in re.finditer(r"\b(min|max)\(", mask):
        other = {"min": "max", "max": "min"}[match.group(1)]
        found.append((f"{match.group(1)} is {other}", text[:match.start()] + other + text[match.end() - 1:]))
    if mask in ("true", "false"):
        found.append(("the other truth", "false" if mask == "true" else "true"))
    return found


def effects(mask):
    """How much of the beginning is `try` and `await`."""
    match = re.match(r"((try|await) )+", mask)
    return match.end() if match else 0


class Slot:
    """A part of a line, and what may be in its place: (kind, text of the part)."""

    def __init__(self, start, end, form, changes):
        self.start, self.end, self.form, self.changes = start, end, form, changes


def condition_slots(line, mask, throws):
    match = re.match(r"\s*(?:\} else )?(if|guard|while) ", mask)
    if not match:
        return []
    word, start = match.group(1), match.end()
    stop = closing(mask, start, [" else {"] if word == "guard" else [" {"])
    if stop < 0:
        return []
    slots, a = [], start
    while a < stop:
        b = closing(mask[:stop], a, [", "])
        b = stop if b < 0 else b
        part = mask[a:b]
        if not re.match(r"(let|var|case|#|unsafe)\b|#", part) and is_balanced(part):
            a2 = a + effects(part)
            text, inner = line[a2:b], mask[a2:b]
            changes = [("negated condition", f"!({text})")] + [
                change for change in expression_changes(text, inner)
                if change[0] not in ("== is !=", "!= is ==") or "&&" in inner or "||" in inner]
            if word == "guard" and throws:
                changes.append(("removed check", "true"))
            slots.append(Slot(a2, b, "expression", changes))
        a = b + 2
    return slots


def statement_slot(line, mask, start, end):
    """A statement that is all of line[start:end]."""
    text, part = line[start:end], mask[start:end]
    if not is_balanced(part) or TOLD.search(part):
        return None
    match = re.match(r"return (.+)$", part)
    if match:
        a = start + 7
        changes = expression_changes(line[a:end], mask[a:end])
        return Slot(start, end, "return", [(kind, f"return {other}") for kind, other in changes]) if changes else None
    match = re.match(r"(?:let|var) \w+(?:: [^=]+)? = ((?:(?:try|await) )*)(.+)$", part)
    if match:
        a = start + match.start(2)
        changes = expression_changes(line[a:end], mask[a:end])
        return Slot(a, end, "expression", changes) if changes else None
    if re.match(r"self\.(\w+) = \1$", part):  # Of an initialiser: it would not compile.
        return None
    if re.match(r"(case|if|guard|for|while|switch|else|do|defer|throw|yield|import|init)\b", part):
        return None
    match = ASSIGNMENT.match(part)
    if match:
        operator = match.group(2)
        changes = [("dropped statement", "")]
        if operator in ("+=", "-="):
            other = {"+=": "-=", "-=": "+="}[operator]
            at = match.start(2)
            changes.append((f"{operator} is {other}", text[:at] + other + text[at + 2:]))
        at = match.end(2) + 1
        changes += [(kind, text[:at] + other) for kind, other in expression_changes(text[at:], part[at:])]
        return Slot(start, end, "statement", changes)
    if CALL.match(part):
        return Slot(start, end, "statement", [("dropped statement", "")] + [
            change for change in expression_changes(text, part) if change[0] == "swapped arguments"])
    return None


def slots_of(text):
    """All places of a file: (number of the line, from 0; slot)."""
    mask = masked(text)
    lines, masks = text.split("\n"), mask.split("\n")
    found, stack = [], []
    for number, (line, part) in enumerate(zip(lines, masks)):
        inner = stack[-1] if stack else ""
        for character in part:
            if character in "([{":
                stack.append(character)
            elif character in ")]}" and stack:
                stack.pop()
        if inner != "{" or not part.strip() or "@inlinable" in part:
            continue
        following = next((m.strip() for m in masks[number + 1:] if m.strip()), "")
        before = next((m.strip() for m in reversed(masks[:number]) if m.strip()), "")
        slots = condition_slots(line, part, "throw " in part or following.startswith("throw "))
        if not slots and not re.match(r"[.?:&|+\-*<>=]", following) and not before.endswith(
                ("=", ",", "(", "[", "&&", "||", "??", "?", ":", "+", "-", "return", "in")):
            slots = line_slots(line, part)
        elif not slots and before.endswith(":") and before.startswith(("case ", "default:")):
            slots = line_slots(line, part)
        found += [(number, slot) for slot in slots if slot.changes]
    return found


def line_slots(line, mask):
    match = re.match(r"\s*(?:(?:case .*?|default):(?= ))?\s*", mask)
    start, end = match.end(), len(mask.rstrip())
    body = re.match(r"(\s*(?:[\w@()]+ )*(func|var) .*?) \{ (.+) \}$", mask.rstrip())
    if body:
        a, b = body.start(3), body.end(3)
        text, part = line[a:b], mask[a:b]
        if re.match(r"(return|if|switch|guard|get|set|do|for|while|defer|lock)\b", part) or "; " in part:
            return []
        if "->" not in body.group(1) and body.group(2) == "func":
            slot = statement_slot(line, mask, a, b)
            return [slot] if slot else []
        changes = [(kind, f"return {other}") for kind, other in expression_changes(text, part)]
        return [Slot(a, b, "result", changes)] if changes else []
    slot = statement_slot(line, mask, start, end)
    return [slot] if slot else []


def rewritten(line, slots):
    """The line with its mutants, each where its number is asked for.

    - slots: (slot, [(number, text)])
    """
    for slot, mutants in sorted(slots, key=lambda pair: -pair[0].start):
        text = line[slot.start:slot.end]
        if slot.form == "expression":
            new = "(" + "".join(f"mutant({number}) ? ({other}) : " for number, other in mutants) + f"({text}))"
        elif slot.form in ("return", "result"):
            new = "".join(f"if mutant({number}) {{ {other} }}; " for number, other in mutants)
            new += text if slot.form == "return" else f"return {text}"
        else:
            new, last = "", ""
            for number, other in mutants:
                new += f"if mutant({number}) {{ {other} }} else "
            new += f"{{ {text} }}"
        line = line[:slot.start] + new + line[slot.end:]
    return line
