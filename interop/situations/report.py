# SPDX-License-Identifier: Apache-2.0
"""The table, on the terminal and in the document."""
import os
import platform
import subprocess
from collections import Counter

from .checks import Verdict
from .programs import ROOT

TITLES = {
    "wildcard": "Servers at the wildcard, and a host whose interfaces come and go",
    "sharing": "Who shares an address",
    "typed": "Two machines, as typed",
    "lookalikes": "Interfaces that look alike",
    "mtus": "MTUs",
    "unreachable": "Who cannot be reached",
    "destinations": "Destinations that are no host's",
    "links": "Links that fail, and many hosts",
    "bare": "Hosts that lack something",
    "sandboxes": "Sandboxes",
    "flows": "Many flows through a small queue",
}


def summary(results):
    counted = Counter(result.verdict for result in results)
    return ", ".join(f"{counted[verdict]} {verdict.value}" for verdict in Verdict if counted[verdict]) or "nothing"


def table(chosen, results):
    """One row a situation."""
    lines = ["| situation | ok | failed | skipped |", "|---|---|---|---|"]
    for situation, title in TITLES.items():
        own = Counter(result.verdict for result in results if result.name.startswith(f"{situation}/"))
        if own:
            lines.append(f"| {title} | {own[Verdict.OK] or ''} | {own[Verdict.FAILED] or ''} | {own[Verdict.SKIPPED] or ''} |")
    return lines


def document(chosen, results, whole):
    """docs/evidence/hosts-suite.md"""
    by_name = {result.name: result for result in results}
    lines = [
        "# Between hosts",
        "",
        "Written by `interop/hosts`, which runs the tools between hosts as network namespaces, joined by cables, bridges and",
        "routers. How to run it: [interop](../../interop/README.md). Each check says what must happen, and how soon.",
        "",
        f"Linux {platform.release()}, {os.cpu_count()} processors, commit {commit()}.",
        "",
        *([f"This was a part: {len(chosen)} of {whole} checks.", ""] if len(chosen) != whole else []),
        f"{summary(results)}.",
        "",
        "The column behind a result has what was measured, or the reason: a time to fail is that of the program, less",
        "what a JVM takes to start. No output of any check had a stack trace or the bare number of an error.",
    ]
    if any(result.verdict is Verdict.FAILED for result in results):
        lines[-1] = "what a JVM takes to start. No output of a check that is ok had a stack trace or the bare number of an error."
    for situation, title in TITLES.items():
        own = [each for each in chosen if each.situation == situation and each.name in by_name]
        if not own:
            continue
        lines += ["", f"## {title}"]
        for function in dict.fromkeys(each.function for each in own):
            checks = [each for each in own if each.function is function]
            lines += ["", f"**{function.__name__.replace('_', ' ')}.** {checks[0].wanted}", "",
                      "| with | result | |", "|---|---|---|"]
            lines += [f"| {with_what(each)} | {told(by_name[each.name])} |" for each in checks]
    return "\n".join([*lines, ""])


def with_what(each):
    return ", ".join(f"`{value}`" for value in each.values) or "-"


def told(result):
    text = (result.reason or result.measured).replace("|", "\\|")
    return f"{result.verdict.value} | {text}"


def commit():
    shown = subprocess.run(["git", "-C", str(ROOT), "rev-parse", "--short", "HEAD"], capture_output=True, text=True)
    return shown.stdout.strip() or "unknown"
