"""Retired words do not come back as identifiers, neither whole nor as a part of a name.   lint_words.py ROOT
Comments and strings do not count, nor do the names of test functions, which are sentences."""
import functools
import pathlib
import re
import subprocess
import sys

ENDINGS = (".c", ".h", ".cpp", ".hpp")
# retired: what to say now (the words of docs/glossary.md). A word of a name ends at an underscore, a capital or a digit.
RETIRED = {
    # bodies, shapes, files
    "lift": "gravity_compensation",
    "pieces": "components",
    "rail_axis": "slider_axis",
    "find_world": "take_world_children",
    "bearer": "support",
    "tribo_data_keep": "tribo_data_snapshot",
    "lifts": "gravity_compensation",
    "skin": "contact_offset",
    "losses": "use_joint_friction",
    "felt": "effective_mass",
    "graft": "expand",
    "grafts": "expand",
    "find_bearer": "find_support_body",
    "recall": "restore_snapshot",
    "TriboLook": "TriboTexturedMesh",
    # step
    "chase": "redetect",
    "chases": "redetections",
    "chased": "redetected",
    "sunk": "penetrating_dropped_points",
    "astray": "motion_left_margin",
    "dozing": "asleep_in_step",
    "feel": "wake_by_force",
    "feels": "wake_by_force",
    "meet": "wake_by_contact",
    "meets": "hit",
    "look": "evaluate",
    "looks": "evaluate",
    "lean": "rest on",
    "rough": "predicted",
    "dyn_settle": "project_velocity",
    "wish": "v_target",
    "lack": "v_error",
    "foreseen": "predicted",
    "calm": "resting",
    "flies": "is_ballistic",
    "leans": "touched",
    # solvers
    "level_face": "relax",
    "levelled": "relaxation",
    "take_levelled": "take_relaxed",
    "absorb": "relax",
    "soften": "regularise",
    "softened": "relaxed",
    "learn": "anderson_mix",
    "LESSONS": "ANDERSON_DEPTH",
    "hold_inside": "centre_floor",
    "share": "fraction",
    "shares": "fractions",
    "share_out": "distribute",
    # viewer
    "obey": "apply_order",
    "ride": "mounted",
    "rides": "mounted",
    "card": "upload",
    "shoot": "take_picture",
    "drive_look": "scratch",
}
BLANK = re.compile(r"//[^\n]*|/\*.*?\*/|\"(?:\\.|[^\"\\\n])*\"|'(?:\\.|[^'\\\n])*'", re.S)
TEST = re.compile(r"\bstatic void (\w+)\(void\*\* state\)")


def code_of(text):
    """The text with its comments and strings blanked, line by line as before."""
    return BLANK.sub(lambda m: re.sub(r"[^\n]", " ", m.group()), text)


def words_of(name):
    """`_take_levelled_rows_` of take_levelled_rows, TakeLevelledRows and TAKE_LEVELLED_ROWS."""
    return "_" + "_".join(re.findall(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+", name)).lower() + "_"


WORDS = [(words_of(word), word) for word in sorted(RETIRED, key=len, reverse=True)]  # the longest that fits is told


@functools.cache
def retired_word(name):
    """The retired word in a name, None: it has none."""
    return next((word for words, word in WORDS if words in words_of(name)), None)


def retired_in(text):
    """(line, retired word) of every identifier that has one."""
    code, found = code_of(text), []
    sentences = set(TEST.findall(code))
    for line, row in enumerate(code.split("\n"), 1):
        for name in [] if row.startswith("#include") else re.findall(r"\b[A-Za-z_]\w*", row):
            if retired_word(name) and name not in sentences:
                found.append((line, retired_word(name)))
    return found


def sources(root):
    """The files that git knows; without git, those of the tree but for what was built or fetched."""
    try:
        names = subprocess.run(["git", "ls-files"], cwd=root, capture_output=True, text=True, check=True).stdout.splitlines()
    except (OSError, subprocess.CalledProcessError):
        names = []
    if not names:
        paths = [p.relative_to(root) for p in root.rglob("*")]
        names = [str(p) for p in paths if not any(part.startswith(("build", ".")) for part in p.parts)]
    return [root / name for name in sorted(names) if name.endswith(ENDINGS) and (root / name).is_file()]


# planted: a whole word, parts of names, a test's variable; then a word in a comment, a string, a longer word, a sentence
for text, word in [("int skin = 0;", "skin"), ("x->has_skin_2 = 1;", "skin"), ("#define MOST_CHASES 8", "chases"),
                   ("TriboLookPart* p;", "TriboLook"), ("s->take_levelled(x);", "take_levelled"),
                   ("static void bodies_rest(void** state) {\n  int wish;", "wish")]:
    assert [w for _, w in retired_in(text)] == [word], f"not noticed: {text}"
for text in ["int a;  // its skin", "/* skin\n skin */ int a;", 'f("skin \\" skin", \'"\');', "int skinny, purchase;",
             '#include "skin.h"', "static void contacts_obey_the_rule(void** state) {}\ntest(contacts_obey_the_rule)"]:
    assert not retired_in(text), f"wrongly noticed: {text}"

if __name__ == "__main__":
    top = pathlib.Path(sys.argv[1]).resolve()
    files = sources(top)
    complaints = [f"{path.relative_to(top)}:{line}: '{word}' is retired: say '{RETIRED[word]}'"
                  for path in files for line, word in retired_in(path.read_text())]
    print("\n".join(complaints) or f"{len(files)} files, no retired word")
    sys.exit(1 if complaints else 0)
