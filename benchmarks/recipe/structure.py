"""Measures of the source: lengths, imports, words. Tests keep them; the benchmark prints them."""

from __future__ import annotations

import ast
import io
import re
import tokenize
from pathlib import Path

SOURCE = Path(__file__).parents[2] / "src" / "lifenet"
ROOT = SOURCE.parents[1]

#: Names of types, modules and parameters that dissolved, and words that the field does not use.
IDENTIFIERS = (
    *("HeldOut", "Apart", "FoldNetwork", "Blended", "Blend", "Alone", "Descended", "Descent"),
    *("Polished", "Polish", "Simplify", "Boosting", "Mixture", "Boxes", "Readout", "Design"),
    *("held_out_rows", "mix_with_lines", "mix_with_trees", "train_blend", "train_alone"),
    *("taught_by", "choose_favour", "walk_down", "walk_frontier", "blend_", "mixture_"),
    *("linear_share_", "polished_", "polish", "blend", "judge", "judged", "judging", "favour"),
    *("favours", "min_leaf", "n_bins", "n_restarts", "ladder"),
)
#: Phrases that no longer occur; ordinary English (a rule of thumb, in place) stays legal.
PHRASES = (
    *("rows apart", "rows that judge", "by heart", "the paper's way", "its own ways"),
    *("leaf rules", "a blend of", "the blend", "boosted rules", "mixed with boosted"),
    *("take off", "takes off", "taken off", "walk down", "crossed rows", "as it comes"),
    *("price of fewer", "prices of fewer", "the polish", "a polish", "polished on"),
)


def files(package: Path = SOURCE) -> list[Path]:
    return sorted(package.rglob("*.py"))


def functions(text: str) -> list[tuple[str, int]]:
    """Every function of a source and its lines of code, without docstring, comments and blanks."""
    tree, found = ast.parse(text), []
    code = _code_lines(text)
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            body = node.body[1:] if ast.get_docstring(node) is not None else node.body
            first = body[0].lineno if body else node.end_lineno or node.lineno
            head = {node.lineno}
            inside = {n for n in code if first <= n <= (node.end_lineno or first)}
            found.append((node.name, len(inside | head)))
    return found


def _code_lines(text: str) -> set[int]:
    """Lines that hold more than blanks and comments."""
    passed = {tokenize.COMMENT, tokenize.NL, tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT}
    lines: set[int] = set()
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type not in passed and token.type != tokenize.ENDMARKER:
            lines.update(range(token.start[0], token.end[0] + 1))
    return lines


def module_of(path: Path, package: Path = SOURCE) -> str:
    parts = path.relative_to(package.parent).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def imports(text: str, known: set[str]) -> set[str]:
    """Our modules that a source imports when it runs, type checking aside."""
    tree = ast.parse(text)
    typing_only = {
        id(node)
        for block in ast.walk(tree)
        if isinstance(block, ast.If) and ast.unparse(block.test) == "TYPE_CHECKING"
        for node in ast.walk(block)
    }
    found: set[str] = set()
    for node in ast.walk(tree):
        if id(node) in typing_only:
            continue
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            found.add(node.module)
            found |= {f"{node.module}.{alias.name}" for alias in node.names}
    return found & known


def import_graph(package: Path = SOURCE) -> dict[str, set[str]]:
    paths = {module_of(path, package): path for path in files(package)}
    return {name: imports(path.read_text(), set(paths)) - {name} for name, path in paths.items()}


def cycle(graph: dict[str, set[str]]) -> list[str]:
    """The modules of one import cycle, or nothing."""
    state: dict[str, int] = {}
    trail: list[str] = []

    def visit(name: str) -> list[str]:
        state[name] = 1
        trail.append(name)
        for other in sorted(graph.get(name, ())):
            if state.get(other) == 1:
                return trail[trail.index(other) :]
            if other not in state:
                found = visit(other)
                if found:
                    return found
        trail.pop()
        state[name] = 2
        return []

    for name in sorted(graph):
        if name not in state:
            found = visit(name)
            if found:
                return found
    return []


def private_imports(path: Path, text: str, package: Path = SOURCE) -> list[str]:
    """Names with an underscore that a source imports from another package than its own."""
    own = module_of(path, package).split(".")[1:2]
    found = []
    for node in ast.walk(ast.parse(text)):
        if not isinstance(node, ast.ImportFrom) or not (node.module or "").startswith("lifenet."):
            continue
        parts = (node.module or "").split(".")[1:]
        if parts[:1] == own:
            continue
        inner = [part for part in parts[1:] if part.startswith("_")]
        names = [alias.name for alias in node.names if alias.name.startswith("_")]
        if inner or (names and len(parts) > 1):
            found.append(f"{node.module}: {', '.join(alias.name for alias in node.names)}")
    return found


def identifiers(text: str) -> set[str]:
    """Every name that a source uses."""
    tokens = tokenize.generate_tokens(io.StringIO(text).readline)
    return {token.string for token in tokens if token.type == tokenize.NAME}


def banned_identifiers(text: str) -> set[str]:
    return identifiers(text) & set(IDENTIFIERS)


def banned_phrases(text: str) -> list[str]:
    flat = re.sub(r"\s+", " ", text.lower())
    return [phrase for phrase in PHRASES if re.search(rf"\b{re.escape(phrase)}\b", flat)]


def loss_checks(text: str) -> list[int]:
    """Lines that ask whether a loss is of a certain class, instead of asking the loss."""
    concrete, found = {"SquaredError", "Logistic", "Multinomial"}, []
    for node in ast.walk(ast.parse(text)):
        asks = (
            isinstance(node, ast.Call)
            and isinstance(node.func, ast.Name)
            and node.func.id in {"isinstance", "issubclass"}
        )
        if asks or isinstance(node, ast.Compare | ast.MatchClass):
            names = {one.id for one in ast.walk(node) if isinstance(one, ast.Name)}
            names |= {one.attr for one in ast.walk(node) if isinstance(one, ast.Attribute)}
            if names & concrete:
                found.append(node.lineno)
    return found


def module_numbers(text: str) -> int:
    """Numbers assigned to names at module level."""
    count = 0
    for node in ast.parse(text).body:
        if isinstance(node, ast.Assign | ast.AnnAssign) and node.value is not None:
            count += sum(
                isinstance(one, ast.Constant)
                and isinstance(one.value, int | float)
                and not isinstance(one.value, bool)
                for one in ast.walk(node.value)
            )
    return count
