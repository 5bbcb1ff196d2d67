# SPDX-License-Identifier: Apache-2.0
"""The table, on the terminal and in the document."""
from collections import defaultdict
from dataclasses import dataclass

from . import cells, draws, scenarios, tools
from .trial import Verdict


@dataclass
class Circumstances:
    """The environment of the run."""
    kernel: str
    rdma_core: str
    jdk: str
    commit: str
    network_backend: str


def summary(results):
    counts = defaultdict(int)
    for result in results:
        counts[result.verdict] += 1
    return ", ".join(f"{counts[verdict]} {verdict.value}" for verdict in Verdict if counts[verdict])


def table(chosen, results, driver="rxe"):
    """One row a tool and role, one column a state of the network, for each path MTU and IP version."""
    verdicts = {result.name: result.verdict for result in results}
    lines = []
    for mtu in cells.PATH_MTUS:
        for family in cells.FAMILIES:
            part = [cell for cell in chosen if (cell.mtu, cell.family) == (mtu, family) and str(cell) in verdicts]
            if part:
                nets = [net for net in cells.NETS if any(cell.net == net for cell in part)]
                lines += ["", f"Path MTU {mtu}, {'IPv4' if family == 'ipv4' else 'IPv6'}:", "",
                          "| tool | Java as | " + " | ".join(nets) + " |", "|---|---|" + "---|" * len(nets)]
                lines += rows(part, nets, verdicts, tools.OF_DRIVER[driver])
    return lines


def rows(part, nets, verdicts, all_tools):
    for tool in all_tools:
        for role in cells.ROLES:
            own = [cell for cell in part if (cell.tool, cell.role) == (tool.name, role)]
            if own:
                entries = [entry([verdicts[str(cell)] for cell in own if cell.net == net]) for net in nets]
                yield f"| `{tool.name}` | {role} | " + " | ".join(entries) + " |"


PEERS = {"c": "the C program", "soft": "Java's software device"}


def native_table(chosen, results, driver):
    """One row a tool and role, one column a peer and IP version."""
    verdicts = {result.name: result.verdict for result in results}
    lines = ["| tool | Java as | " + " | ".join(f"{peer}, {family}" for peer in PEERS.values() for family in ("IPv4", "IPv6"))
             + " |", "|---|---|---|---|---|---|"]
    for tool in tools.NATIVE[driver]:
        for role in cells.ROLES:
            own = [cell for cell in chosen
                   if (cell.driver, cell.tool, cell.role) == (driver, tool.name, role) and str(cell) in verdicts]
            if own:
                entries = [entry([verdicts[str(cell)] for cell in own if (cell.peer, cell.family) == (peer, family)])
                           for peer in PEERS for family in cells.FAMILIES]
                lines.append(f"| `{tool.name}` | {role} | " + " | ".join(entries) + " |")
    return lines


def drawn_table(results):
    """One row for each tool: the results of the drawn combinations of options."""
    lines = ["", "| tool | drawn | Java as server | Java as client |", "|---|---|---|---|"]
    for tool in draws.DRAWS:
        own = [result for result in results if result.name.startswith(tool + "/")]
        by_role = [[result.verdict for result in own if result.name.endswith(f"/java-{role}")] for role in cells.ROLES]
        if own:
            lines.append(f"| `{tool}` | {len(by_role[0])} | {' | '.join(map(entry, by_role))} |")
    return lines


def entry(verdicts):
    if not verdicts:
        return ""
    counted = [(verdict, verdicts.count(verdict)) for verdict in Verdict if verdict in verdicts]
    return ", ".join(f"**{count} failed**" if verdict is Verdict.FAILED else f"{count} {verdict.value}"
                     for verdict, count in counted)


def iwarp_sizes(chosen):
    """A column for each link that was chosen."""
    mtus = [mtu for mtu in cells.PATH_MTUS if any(cell.mtu == mtu for cell in chosen)]
    heads = " | ".join(f"link MTU {cells.LINK_MTU[mtu]}" for mtu in mtus)
    lines = [f"| tool | bytes of a message, {heads} |", "|---|" + "---|" * len(mtus)]
    for tool in tools.IWARP:
        if tool.sizes(1024) != [None]:
            lines.append(f"| `{tool.name}` | " + " | ".join(
                ", ".join(map(str, tool.sizes(mtu))) for mtu in mtus) + " |")
    return lines


def sizes():
    lines = ["| tool | bytes of a message |", "|---|---|"]
    for tool in tools.ALL:
        if tool.sizes(1024) != [None]:
            lines.append(f"| `{tool.name}` | " + ", ".join(
                str(size) if size not in (1023, 1024, 1025) else {1023: "path MTU - 1", 1024: "path MTU",
                                                                   1025: "path MTU + 1"}[size]
                for size in tool.sizes(1024)) + " |")
    return lines


def scenario_table(results):
    lines = ["| scenario | result |", "|---|---|"]
    for result in results:
        told = f": {result.reason}" if result.reason else ""
        lines.append(f"| {scenarios.told(result.name)} | {result.verdict.value}{told} |")
    return lines


def iwarp_document(circumstances, chosen, results, scenario_results, units, part):
    """docs/evidence/interop-iwarp.md, or that of the portable network back-end."""
    is_impaired = any(cell.net != "clean" for cell in chosen)
    is_portable = circumstances.network_backend == "portable"
    return "\n".join([
        "# Interoperability with Linux's siw" + (" on the portable network back-end" if is_portable else ""),
        "",
        "Written by `interop/run`, which runs tools over an iWARP device against the C programs of the same names, Java on",
        "one side and the kernel's `siw` with rdma-core on the other. How to run it: [interop](../../interop/README.md).",
        "",
        f"Linux {circumstances.kernel} in an emulated guest, rdma-core {circumstances.rdma_core}, JDK {circumstances.jdk}, "
        f"network back-end `{circumstances.network_backend}`, commit {circumstances.commit}.",
        "",
        *([part, ""] if part else []),
        f"Matrix: {summary(results)}. Scenarios: {summary(scenario_results)}.",
        "",
        f"Each connection of each run was captured and put together again: {units.sent} units from Java, {units.wrong_sent} of",
        f"them wrong; {units.received} from Linux, {units.wrong_received} wrong; {units.unseen} packets were missed,",
        "or came behind one that was, and were not looked at. A unit is right if",
        "its CRC is, where one was agreed on, its control bytes are those of the RFCs, its padding is 0 (which siw's is not),",
        "and its message number and offset continue those before ([fpdus.py](../../interop/suite/fpdus.py)).",
        "",
        "## Matrix",
        "",
        "An entry counts the sizes below that ran to the end on both sides with every byte checked where the tool can. They",
        "lie around what fits one segment of TCP."
        + (" Both directions of the link are impaired below TCP: packets are lost, or" if is_impaired else ""),
        *(["30 % overtake those before them by 3 ms."] if is_impaired else []),
        *(["The portable back-end is tried with one link MTU and without impairment: its TCP is the kernel's, too, and so cuts",
           "into segments and repeats what is lost as it does for the Linux back-end ([interop-iwarp.md](interop-iwarp.md))."]
          if is_portable else []),
        "",
        *iwarp_sizes(chosen),
        *table(chosen, results, "siw"),
        "",
        "## Scenarios",
        "",
        *scenario_table(scenario_results),
        ""])


def native_document(circumstances, chosen, results, part):
    """docs/evidence/interop-native.md."""
    lines = [
        "# Tools on the kernel's devices",
        "",
        "Written by `interop/run`, which runs tools in a guest on the kernel's own device, `rxe0` or `siw0`, through",
        "libibverbs and librdmacm ([native devices](../howto/native.md)), against the C programs of the same names in another guest,",
        "and against the same tools on a software device of rdma4j. How to run it: [interop](../../interop/README.md).",
        "",
        f"Linux {circumstances.kernel} in emulated guests, rdma-core {circumstances.rdma_core}, JDK {circumstances.jdk}, "
        f"commit {circumstances.commit}.",
        "",
        *([part, ""] if part else []),
        f"{summary(results)}.",
        "",
        "An entry counts the sizes that ran to the end on both sides, of which neither said anything, with every byte checked",
        "where the tool can: the smallest that the tool allows and one of two packets, over IPv6 the latter. The",
        "network is good, and the path MTU 4096."]
    for driver in tools.NATIVE:
        if any(cell.driver == driver for cell in chosen):
            lines += ["", f"## {driver}0", "", *native_table(chosen, results, driver)]
    failed = [result for result in results if result.verdict is Verdict.FAILED]
    if failed:
        lines += ["", "## What failed", "", *(f"- `{result.name}`: {result.reason}" for result in failed)]
    return "\n".join([*lines, ""])


def document(circumstances, chosen, results, scenario_results, guest_results, seen, frames, malformed,
             part, differences):
    """docs/evidence/interop.md, or that of the portable network back-end."""
    lines = [
        "# Interoperability with Linux",
        "",
        "Written by `interop/run`, which runs every tool against the C program of the same name, Java on one side and",
        "the kernel's `rdma_rxe` with rdma-core on the other. How to run it: [interop](../../interop/README.md).",
        "",
        f"Linux {circumstances.kernel} in an emulated guest, rdma-core {circumstances.rdma_core}, JDK {circumstances.jdk}, "
        f"network back-end `{circumstances.network_backend}`, commit {circumstances.commit}.",
        "",
        *([part, ""] if part else []),
        f"Matrix: {summary(results)}. Scenarios: {summary(scenario_results)}."
        + (f" Java in one guest, the kernel in another: {summary(guest_results)}." if guest_results else ""),
        "",
        f"The packets of every run were captured: {seen.sent} from Java, {seen.wrong_sent} of them with a wrong ICRC; "
        f"{seen.received} from Linux, {seen.wrong_received} wrong; {seen.unseen} were missed. tshark read {frames} frames, found "
        f"{malformed or 'none'} of the captures malformed.",
        "",
        "## Matrix",
        "",
        "An entry counts the sizes below that ran to the end on both sides with every byte checked where the tool can.",
        "Both directions of the link are impaired: packets are lost, 30 % overtake those before them by 3 ms, or 10 % come",
        "twice.",
        "",
        "- `lost`: the service is unreliable and the network bad; a message was lost, which Java noticed, said in one line",
        "  and ended, while the C program waits for ever, as C's `udpong` does. With `ibv_ud_pingpong` also: it came twice and counted twice, in C",
        "  as in Java, so that one side had finished before the other.",
        "- `left`: all messages arrived on both sides, but the C program, which does not wait, was gone when the",
        "  acknowledgement of the last one had to be repeated; Java, which cannot know, says just that and ends with status",
        "  1. A C server then ends with status 1 as well. Or `udaddy` with messages of 0 bytes, which are none: the C server",
        "  was gone when its answer to a look-up had to be repeated. Or `rping`, whose C client disconnects and is gone: its",
        "  kernel asks once, and when that is lost the Java server waits a minute and says that nothing came, where a C",
        "  server knows no limit; the packets show that all was acknowledged ([known_faults.py](../../interop/suite/known_faults.py)).",
        "- `doubled`: perftest's programs with `-R` listen only after they have told their peer to come. A request for a",
        "  connection that came twice found no listener first and one then; Java said that it was refused, and the C program,",
        "  whose reply came too late, waits for ever ([known_faults.py](../../interop/suite/known_faults.py)). Or `udaddy`, whose C server",
        "  took a look-up that came twice for two connections, and answered no other.",
        "- `stalled`: a defect of `rdma_rxe`. It noted the acknowledgement of a message that it was just sending again, and",
        "  when the next copy of it was lost or came too soon, neither completed the request nor sent anything any more;",
        "  Java said that nothing came, and the packets show that it owed nothing. Or it stopped in the middle of a message",
        "  of which all that it had sent was acknowledged at once ([known_faults.py](../../interop/suite/known_faults.py)).",
        "- `renumbered`: another defect of `rdma_rxe`, which gave numbers of packets that it had sent to others as it sent",
        "  again; Java refused what could not be, and both programs said so",
        "  ([known_faults.py](../../interop/suite/known_faults.py)).",
        "- `reset`: a defect of `siw`, which takes bytes for sent that TCP still has. The C program ended well, and Linux answered",
        "  Java's credits with a reset; what was under way is lost, and Java said so ([known_faults.py](../../interop/suite/known_faults.py)).",
        "- `hung up`: C's `rstream -T async` took the end of the connection, which came right behind the last bytes, for a failure before",
        "  it had read them, as it does of a C server's ([known_faults.py](../../interop/suite/known_faults.py)).",
        "",
        *sizes(),
        "",
        "What cannot be tried: the C ping-pongs with 0 bytes, for Linux registers no region of 0; `mckey` with 0, for it",
        "then sends nothing, and over IPv6, for Linux joins no IPv6 group over RoCEv2 (ENOTSUPP); `rping` below 24 and",
        "above 65535 bytes, by its own rule.",
        *table(chosen, results),
        "",
        "## Scenarios",
        "",
        *scenario_table(scenario_results),
    ]
    if guest_results:
        lines += ["", "## Java inside a guest", "",
                  "One guest runs Java and no RDMA driver, the other the kernel's.", "",
                  "| run | result |", "|---|---|",
                  *[f"| `{result.name}` | {result.verdict.value} |" for result in guest_results]]
    return "\n".join([*lines, "", differences.strip(), ""])
