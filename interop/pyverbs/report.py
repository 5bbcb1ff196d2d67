# SPDX-License-Identifier: Apache-2.0
"""The tables of interop/pyverbs/run, on the terminal and in docs/evidence/pyverbs.md."""
import os
import platform
from collections import Counter


def table(results):
    """A row for each file, a column for each device: passed, failed, failed as known, skipped."""
    devices = list(dict.fromkeys(device for device, _ in results))
    files = list(dict.fromkeys(file for _, file in results))
    lines = [f"| file | {' | '.join(devices)} |", f"|---|{'---|' * len(devices)}"]
    for file in files:
        lines.append(f"| {file} | {' | '.join(cell(results.get((device, file), [])) for device in devices)} |")
    lines.append("| together | " + " | ".join(
        cell([each for (of, _), played in results.items() if of == device for each in played]) for device in devices) + " |")
    return lines


def cell(played):
    counted = Counter(each["outcome"] for each in played)
    parts = [f"{counted['passed']} ok"] if counted["passed"] else []
    parts += [f"**{counted['failed']} failed**"] if counted["failed"] else []
    parts += [f"{counted['known']} known"] if counted["known"] else []
    parts += [f"{counted['skipped']} skipped"] if counted["skipped"] else []
    return ", ".join(parts) or "–"


def is_linux(device):
    """Whether it is Linux that is tested there, and not rdma4j."""
    return device.startswith("linux/")


def document(results, version, graalpy, commits, left_out, software, kernels):
    """docs/evidence/pyverbs.md. Kernels: which, of the guests."""
    ours = {key: played for key, played in results.items() if not is_linux(key[0])}
    linux = {key: played for key, played in results.items() if is_linux(key[0])}
    devices = list(dict.fromkeys(device for device, _ in results))
    lines = [
        "# rdma-core's Python tests",
        "",
        "Written by `interop/pyverbs/run`, which plays the Python tests of rdma-core, unchanged, on rdma4j, and on Linux' own software",
        "devices. How, and what stands in for what: [interop/pyverbs](../../interop/pyverbs/README.md).",
        "",
        f"Tests of Debian's python3-pyverbs {version}, GraalPy {graalpy}, Linux {platform.release().split('-')[0]}, {os.cpu_count()} processors,",
        f"commit {', '.join(commits)}.",
        "",
        f"rdma4j: {summary(ours)}.",
        "",
        *([f"Linux' own devices{', of ' + ', '.join(kernels) if kernels else ''}: {summary(linux)}.", ""] if linux else []),
        *table(results),
        "",
        "| column | what is played there |",
        "|---|---|",
        *(f"| {device} | {described(device, software)} |" for device in devices),
        "",
    ]
    lines += beside_linux(results)
    for outcome, title, found in (("failed", "Failed", ours), ("known", "Failed for a reason that is known", ours),
                                  ("failed", "Failed on Linux", linux), ("skipped", "Skipped", results)):
        lines += listing(found, outcome, title, devices)
    lines += ["## Not played", "", "| files | why |", "|---|---|",
              *(f"| `{pattern.replace('.*', '*')}` | {why} |" for pattern, why in left_out.items()), ""]
    return "\n".join(lines)


def described(device, software):
    by, _, driver = device.partition("/")
    if by == "linux":
        return f"pyverbs itself, on `{driver}0` of the kernel, in a guest"
    if by == "native":
        return f"rdma4j on `{driver}0` of the kernel, by `rdma4j-ibverbs`, in a guest"
    _, chosen, processes = software[device]
    return ", ".join([f"rdma4j's software device `{by}`", *(f"`rdma4j.{key}={value}`" for key, value in chosen.items()),
                      *(["two processes in tests of the connection manager"] if processes == 2 else [])])


def summary(results):
    counted = Counter(each["outcome"] for played in results.values() for each in played)
    parts = [f"{counted['passed']} passed", f"{counted['failed']} failed"]
    parts += [f"{counted['known']} failed for a reason that is known"] if counted["known"] else []
    return ", ".join([*parts, f"{counted['skipped']} skipped"])


# ---------------------------------------------------------------- rdma4j beside Linux

def counterpart(device):
    """The device of Linux that has the same protocol."""
    return "linux/siw" if device.startswith("iwarp_") or device.endswith("/siw") else "linux/rxe"


def compared(results):
    """What passes on Linux alone, and what on rdma4j alone: device, result here, result there."""
    by_device = {}
    for (device, _), played in results.items():
        by_device.setdefault(device, {}).update({each["test"]: each for each in played})
    missing, more = [], []
    for device, tests in by_device.items():
        theirs = {} if is_linux(device) else by_device.get(counterpart(device), {})
        for name, here in tests.items():
            there = theirs.get(name)
            if there and (here["outcome"] == "passed") != (there["outcome"] == "passed"):
                (missing if there["outcome"] == "passed" else more).append((device, here, there))
    return missing, more


def beside_linux(results):
    """Where one passes and the other does not."""
    missing, more = compared(results)
    return [
        "## Beside Linux",
        "",
        "A device of RoCE is compared with Linux' rxe, one of iWARP with its siw.",
        "",
        *comparison("Passes on Linux, and not on rdma4j", "with rdma4j", [(device, here) for device, here, _ in missing]),
        *comparison("Passes on rdma4j, and not on Linux", "with Linux", [(device, there) for device, _, there in more]),
    ] if any(is_linux(device) for device, _ in results) else []


def said(result):
    return f"{'skipped' if result['outcome'] == 'skipped' else 'failed'}: {result['reason']}"


def comparison(title, who, found):
    """A table of where, and what the other has said."""
    by_test, rows = {}, {}
    for device, result in found:
        by_test.setdefault((said(result), result["test"]), []).append(device)
    for (words, name), devices in by_test.items():
        rows.setdefault((words, ", ".join(devices)), []).append(name)
    table_of = rows_of(who, [(words, names, where) for (words, where), names in rows.items()]) if rows else ["None.", ""]
    return [f"### {title}", "", *table_of]


def rows_of(first, rows):
    return [f"| {first} | tests | on |", "|---|---|---|",
            *(f"| {reason.replace('|', '/')} | {', '.join(f'`{short(name)}`' for name in names)} | {where} |"
              for reason, names, where in rows), ""]


# ---------------------------------------------------------------- lists

def listing(results, outcome, title, all_devices):
    """By reason: the tests, and where."""
    by_reason = {}
    for (device, _), played in results.items():
        for each in played:
            if each["outcome"] == outcome:
                by_reason.setdefault(each["reason"], {}).setdefault(each["test"], []).append(device)
    rows = []
    for reason, tests in by_reason.items():
        by_devices = {}
        for test, devices in tests.items():
            by_devices.setdefault(tuple(devices), []).append(test)
        rows += [(reason, names, "all" if list(devices) == all_devices else ", ".join(devices))
                 for devices, names in by_devices.items()]
    return [f"## {title}", "", *rows_of("reason", rows)] if rows else []


def short(name):
    """FILE.TEST, for the class says nothing more."""
    parts = name.split(".")
    return f"{parts[0]}.{parts[-1].removeprefix('test_')}"
