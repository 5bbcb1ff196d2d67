"""The tables of interop/pyverbs/run, on the terminal and in docs/pyverbs.md."""
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


def document(results, version, graalpy, commit, left_out, devices):
    """docs/pyverbs.md"""
    everything = [each for played in results.values() for each in played]
    counted = Counter(each["outcome"] for each in everything)
    lines = [
        "# rdma-core's Python tests",
        "",
        "Written by `interop/pyverbs/run`, which plays the Python tests of rdma-core, unchanged, on rdma4j. How, and what stands in",
        "for what: [interop/pyverbs](../interop/pyverbs/README.md).",
        "",
        f"Tests of Debian's python3-pyverbs {version}, GraalPy {graalpy}, Linux {platform.release().split('-')[0]}, {os.cpu_count()} processors,",
        f"commit {commit}.",
        "",
        f"{counted['passed']} passed, {counted['failed']} failed, {counted['known']} failed for a reason that is known, "
        f"{counted['skipped']} skipped.",
        "",
        *table(results),
        "",
        "| column | properties |",
        "|---|---|",
        *(f"| {name} | {' '.join(f'`rdma4j.{key}={value}`' for key, value in properties.items()) or 'none'} |"
          for name, (_, properties) in devices.items() if any(name == device for device, _ in results)),
        "",
    ]
    for outcome, title in (("failed", "Failed"), ("known", "Failed for a reason that is known"), ("skipped", "Skipped")):
        lines += listing(results, outcome, title)
    lines += ["## Not played", "", "| files | why |", "|---|---|",
              *(f"| `{pattern.replace('.*', '*')}` | {why} |" for pattern, why in left_out.items()), ""]
    return "\n".join(lines)


def listing(results, outcome, title):
    """By reason: the tests, and where."""
    by_reason = {}
    for (device, _), played in results.items():
        for each in played:
            if each["outcome"] == outcome:
                by_reason.setdefault(each["reason"], {}).setdefault(each["test"], []).append(device)
    if not by_reason:
        return []
    all_devices = list(dict.fromkeys(device for device, _ in results))
    lines = [f"## {title}", "", "| reason | tests | on |", "|---|---|---|"]
    for reason, tests in by_reason.items():
        by_devices = {}
        for test, devices in tests.items():
            by_devices.setdefault(tuple(devices), []).append(test)
        for devices, names in by_devices.items():
            where = "all" if list(devices) == all_devices else ", ".join(devices)
            lines.append(f"| {reason.replace('|', '/')} | {', '.join(f'`{short(name)}`' for name in names)} | {where} |")
    return [*lines, ""]


def short(name):
    """FILE.TEST, for the class says nothing more."""
    parts = name.split(".")
    return f"{parts[0]}.{parts[-1].removeprefix('test_')}"
