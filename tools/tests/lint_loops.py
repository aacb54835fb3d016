"""Loops whose condition hides an `if`: `for (int i = 0; names != NULL && i < n; ++i)` where `names` stays as it is."""
import re

NAME = r"[A-Za-z_]\w*"
PATH = NAME + r"(?:\[[^][]*\])?(?:(?:->|\.)" + NAME + r"(?:\[[^][]*\])?)*"
TEST = re.compile(rf"!?\(?({PATH})(?:\s*(?:==|!=|<=|>=|<|>)\s*-?(?:{PATH}|[\d.]+(?:e-?\d+)?))?\)?")
CHAIN = re.compile(r"(?:status|code)\s*==\s*\w+")  # the usual chain of calls, each after success only


def closing(text, at, pair):
    """Where the bracket that opens at `at` closes."""
    depth = 0
    for i in range(at, len(text)):
        depth += (text[i] == pair[0]) - (text[i] == pair[1])
        if depth == 0:
            return i
    return len(text)


def changes(names, base, text):
    """Whether `text` may write one of the names: by assigning, by taking an address, or by handing its owner to a call."""
    for name in names:
        last = re.escape(re.split(r"->|\.", name)[-1].split("[")[0])
        if re.search(rf"\b{last}\b(?:\[[^;]*?\])*\s*(?:[-+*/|&^%]|<<|>>)?=(?!=)|(?:\+\+|--)[\w>.\-]*\b{last}\b|\b{last}\b(?:\[[^;]*?\])*(?:\+\+|--)"
                     rf"|&[\w>.\-]*\b{last}\b", text):
            return True
    owner = re.escape(base)
    if any(name != base for name in names):  # a part of something: whoever is given the whole may change the part
        return bool(re.search(rf"[(,]\s*&?{owner}\s*[,)]|\b{owner}\s*=(?!=)|\*{owner}\s*=(?!=)", text))
    return False


def hidden_ifs(text):
    """(line, test) of every part of a loop's condition that the loop does not change. Comments and strings are blank."""
    found = []
    for loop in re.finditer(r"\bfor \(", text):
        end = closing(text, loop.end() - 1, "()")
        head = text[loop.end():end].split(";")
        if len(head) != 3 or "&&" not in head[1]:
            continue
        brace = text.find("{", end)
        body = text[brace:closing(text, brace, "{}")]
        own = set(re.findall(NAME, re.sub(r"=[^,]*", "", head[0]) + " " + head[2]))
        for part in re.split(r"&&(?![^(]*\))", head[1]):
            part = part.strip()
            test = TEST.fullmatch(part)
            if test is None or CHAIN.fullmatch(part) or set(re.findall(NAME, part)) & own:
                continue
            paths = [p for p in re.findall(PATH, part) if p != "NULL" and not p.isupper()]
            if not any(changes([p], re.match(NAME, p).group(), body + head[2]) for p in paths):
                found.append((text.count("\n", 0, loop.start()) + 1, part))
    return found
