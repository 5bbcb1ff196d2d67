# SPDX-License-Identifier: Apache-2.0
"""One lane: its own laboratory and its share of the runs."""
import ipaddress
import json
import shutil
import subprocess
from dataclasses import dataclass, field, replace

from laboratory import guests, network

from . import cells, drawing, endpoints, fpdus, scenarios, trial, wire
from .trial import Result, Trial, Verdict

# The name, as a lane, of what was kept of earlier runs.
KEPT = "-kept"
MATRIX, SCENARIO, GUESTS, DRAWN, IWARP, IWARP_SCENARIO, NATIVE, IWARP_NATIVE = KINDS = (
    "matrix", "scenario", "guests", "drawn", "iwarp", "iwarp scenario", "native", "iwarp native")
PREFIXES = {MATRIX: "", SCENARIO: "scenario/", GUESTS: "guest/", DRAWN: "draw/", IWARP: "", IWARP_SCENARIO: "scenario/",
            NATIVE: "native/", IWARP_NATIVE: "native/"}


@dataclass(frozen=True)
class Share:
    """The runs: cells of the matrix, scenarios by name, cells with Java in its own guest, drawn combinations of
    options, cells and scenarios of iWARP, and cells with Java on the kernel's devices, rxe and siw."""
    chosen: list = field(default_factory=list)
    wanted: list = field(default_factory=list)
    between_guests: list = field(default_factory=list)
    drawn: list = field(default_factory=list)
    iwarp: list = field(default_factory=list)
    iwarp_wanted: list = field(default_factory=list)
    native: list = field(default_factory=list)
    iwarp_native: list = field(default_factory=list)

    def __len__(self):
        return len(self.names())

    def names(self):
        return [*(named(MATRIX, cell) for cell in self.chosen), *(named(SCENARIO, name) for name in self.wanted),
                *(named(GUESTS, cell) for cell in self.between_guests),
                *(named(DRAWN, name) for choice in self.drawn for name in drawing.names(choice)),
                *(named(IWARP, cell) for cell in self.iwarp),
                *(named(IWARP_SCENARIO, name) for name in self.iwarp_wanted),
                *(named(NATIVE, cell) for cell in self.native),
                *(named(IWARP_NATIVE, cell) for cell in self.iwarp_native)]

    def of(self, number, lanes):
        """One lane's. The last has a second guest, and with drawn options and on the kernel's devices each."""
        return Share(self.chosen[number::lanes], self.wanted[number::lanes],
                     self.between_guests if number == lanes - 1 else [], self.drawn[number::lanes],
                     self.iwarp[number::lanes], self.iwarp_wanted[number::lanes],
                     self.native[number::lanes], self.iwarp_native[number::lanes])

    def on(self, network_backend):
        """Without what is not for a network back-end."""
        return replace(self, wanted=[name for name in self.wanted if scenarios.is_on(network_backend, name)],
                       iwarp=[cell for cell in self.iwarp if cells.is_iwarp_on(network_backend, cell)])

    def drivers(self):
        """Those of the guests that a lane needs; that of iWARP is the last, and the second, where there is one, changes its
        driver."""
        is_second_wanted = self.drawn or self.between_guests or self.native or self.iwarp_native
        second = ["rxe"] if is_second_wanted else []
        return ["rxe", *second, *(["siw"] if self.has_iwarp else [])]

    @property
    def has_iwarp(self):
        return bool(self.iwarp or self.iwarp_wanted or self.iwarp_native)


class Lane:
    """Runs its share inside the laboratory's network and writes the results."""

    def __init__(self, number, wanted_network, share, folder):
        self._number = number
        self._wanted_network = wanted_network
        self._share = share
        self._folder = folder
        self._own = folder / f"lane{number}"
        self._done = 0

    def run(self):
        all_guests = guests.all_guests()
        for guest in all_guests:
            guest.await_boot()
        self._own.mkdir(parents=True)
        self._programs = {"atomic_pingpong": self._atomic_pingpong()}
        self._linux = endpoints.LinuxEnd(all_guests[0], self._programs)
        self._java = endpoints.JavaHere(f"-Drdma4j.network={self._wanted_network}")
        self._served_by = self._java.network_backend()
        self._share = self._share.on(self._served_by)
        self._linux.fill_checksums(self._served_by == "portable")
        self._dissector = wire.Dissector(self._own)
        self._trial = self._trial_with(self._java, self._linux)
        with open(results_of(self._folder, self._number), "w") as self._results:
            self._matrix()
            self._scenarios()
            if self._share.drawn:
                self._drawn(all_guests[1])
            if self._share.native:
                self._native(NATIVE, self._share.native, all_guests[1], self._linux, self._java, wire.look)
            if self._share.between_guests:
                self._between_guests(all_guests[1])
            if self._share.has_iwarp:
                self._iwarp(all_guests)
        self._dissector.finish()
        self._write()

    def _trial_with(self, java, linux, look=wire.look):
        return Trial(java, linux, self._own, self._folder, self._dissector, packed(java.address), look)

    def _matrix(self):
        self._cells(MATRIX, self._share.chosen, self._trial, self._linux)

    def _cells(self, kind, chosen, by, linux):
        """Runs cells, with the link to the Linux end's guest as each wants it."""
        link = None
        for cell in chosen:
            if link != (cell.mtu, cell.net):
                link = (cell.mtu, cell.net)
                self._set_link(linux.guest, cell.mtu, cell.net)
            result = self._run(by, cell)
            if result.verdict is Verdict.FAILED and linux.guest.crash():
                result = self._run_again(by, cell, linux)
            self._note(kind, result)
        self._set_link(linux.guest, 4096, "clean")

    def _run_again(self, by, cell, linux):
        """Runs a cell in a guest that has booted again: the driver of a kernel that has crashed serves nobody any more."""
        print(f"{self._number}: the guest's kernel has crashed, and boots again: {linux.guest.crash()}", flush=True)
        linux.guest.reboot()
        linux.guest.await_boot()
        linux.settle()
        self._set_link(linux.guest, cell.mtu, cell.net)
        return self._run(by, cell)

    @staticmethod
    def _set_link(guest, mtu, net):
        guest.impair("")
        guest.set_mtu(cells.LINK_MTU[mtu])
        network.set_mtu(cells.LINK_MTU[mtu], len(guests.all_guests()))
        guest.impair(cells.NETS[net])

    def _scenarios(self):
        play = scenarios.Scenarios(self._java, self._linux, self._trial, self._own, self._dissector,
                                   packed(self._java.address))
        for name in self._share.wanted:
            self._note(SCENARIO, play.run(name))

    def _iwarp(self, all_guests):
        """Java's iWARP device, on the network back-end that RoCE has, and the last guest's siw."""
        guest = all_guests[-1]
        linux = endpoints.LinuxEnd(guest, self._programs, "siw")
        java = endpoints.JavaHere(f"-Drdma4j.device=iwarp -Drdma4j.network={self._served_by}", "iwarp")
        if java.network_backend() != self._served_by:
            raise OSError(f"iWARP reaches the network by the back-end {java.network_backend()}, RoCE by {self._served_by}")
        by = self._trial_with(java, linux, fpdus.look)
        self._cells(IWARP, self._share.iwarp, by, linux)
        play = scenarios.Scenarios(java, linux, by, self._own, self._dissector, packed(java.address), fpdus.look)
        for name in self._share.iwarp_wanted:
            self._note(IWARP_SCENARIO, play.run(name))
        if self._share.iwarp_native:
            all_guests[1].drive("siw")
            self._native(IWARP_NATIVE, self._share.iwarp_native, all_guests[1], linux, java, fpdus.look)

    def _native(self, kind, chosen, guest, linux, soft, look):
        """Java on the kernel's device of a guest, with the C programs of another one and with Java's own device."""
        trials = self._native_trials(guest, linux, soft, look)
        for cell in chosen:
            by = trials[cell.peer]
            self._note(kind, self._run(by, cell))
            if by.stuck:
                print(f"{self._number}: a process is left though it was killed, and keeps its port: the guests boot again", flush=True)
                for each in (guest, linux.guest):
                    each.reboot()
                for each in (guest, linux.guest):
                    each.await_boot()
                guest.drive(linux.driver)
                linux.settle()
                trials = self._native_trials(guest, linux, soft, look)

    def _native_trials(self, guest, linux, soft, look):
        native = endpoints.JavaOnKernelDevice(guest, linux.driver)
        # Whose packets are those of a device of rdma4j's.
        return {"c": Trial(native, linux, self._own, self._folder, self._dissector, set(), look),
                "soft": Trial(native, soft, self._own, self._folder, self._dissector, packed(soft.address), look)}

    def _between_guests(self, guest):
        try:
            guest.drive("none")
            between = self._trial_with(endpoints.JavaInGuest(guest, f"-Drdma4j.network={self._wanted_network}"),
                                       self._linux)
        except (OSError, guests.LabError) as failure:
            self._note(GUESTS, Result("java in a guest", Verdict.FAILED, str(failure)))
            return
        for cell in self._share.between_guests:
            self._note(GUESTS, self._run(between, cell))

    def _drawn(self, guest):
        other = endpoints.LinuxEnd(guest, self._programs)
        play = drawing.Drawing(self._java, self._linux, other, self._trial, self._own, self._folder, self._dissector,
                               packed(self._java.address))
        for choice in self._share.drawn:
            done = set()
            try:
                for result in play.run(choice):
                    self._note(DRAWN, result)
                    done.add(result.name)
            except (OSError, guests.LabError, subprocess.SubprocessError, LookupError) as failure:
                for name in drawing.names(choice):
                    if name not in done:
                        self._note(DRAWN, Result(name, Verdict.FAILED, f"broke off: {type(failure).__name__}: {failure}"))

    @staticmethod
    def _run(by, cell):
        """Counts an aborted run as failed; the others continue."""
        try:
            return by.run(cell)
        except (OSError, guests.LabError, subprocess.SubprocessError, LookupError, StopIteration) as failure:
            return Result(str(cell), Verdict.FAILED, f"broke off: {type(failure).__name__}: {failure}")

    def _note(self, kind, result):
        self._done += 1
        # Written at once, so that an aborted run keeps the results so far.
        json.dump({"kind": kind, "name": result.name, "verdict": result.verdict.name, "reason": result.reason,
                   "seconds": round(result.seconds, 1), "seen": vars(result.seen)}, self._results)
        self._results.write("\n")
        self._results.flush()
        total = len(self._share)
        line = f"{self._number}: {self._done:4}/{total} {result.verdict.value:6} {result.seconds:5.1f} s  {result.name}"
        told = [line, *([result.reason] if result.reason else []),
                *([f"see {self._trial.kept(result.name)}"] if result.verdict is Verdict.FAILED else [])]
        print("\n           ".join(told), flush=True)

    def _atomic_pingpong(self):
        """The C side of atomics, built here."""
        program = self._own / "atomic_pingpong"
        source = endpoints.ROOT / "interop" / "atomic_pingpong.c"
        subprocess.run(["gcc", "-Wall", "-O2", "-o", str(program), str(source), "-libverbs"], check=True)
        return program

    def _write(self):
        told = {"frames": self._dissector.frames,
                "malformed": sorted({name for name, _ in self._dissector.malformed}),
                "failure": self._dissector.failure, "network": self._wanted_network, "network_backend": self._served_by,
                "commit": commit(),
                "rdma_core": self._linux.guest.sh("dpkg-query -W -f '${Version}' rdma-core")}
        written(self._folder, self._number).write_text(json.dumps(told, indent=1))


def commit():
    """What was run, of the project."""
    shown = subprocess.run(["git", "-C", str(endpoints.ROOT), "rev-parse", "--short", "HEAD"],
                           capture_output=True, text=True).stdout.strip()
    return shown or "unknown"


def packed(addresses):
    return {ipaddress.ip_address(address).packed for address in addresses.values()}


def results_of(folder, number):
    """The file to which a lane writes each result at once, one line of JSON each."""
    return folder / f"lane{number}.results"


def written(folder, number):
    """The file to which a lane writes the other data of the report at its end."""
    return folder / f"lane{number}.json"


def written_by(folder):
    """The lanes that have written there; what an amended run has kept of those before counts as one."""
    return sorted(file.name.removeprefix("lane").removesuffix(".results") for file in folder.glob("lane*.results"))


def networks(folder):
    """What the lanes there were told to reach the network by, and which back-end they then had; None if no lane has
    come to its end."""
    for lane in written_by(folder):
        if written(folder, lane).exists():
            end = json.loads(written(folder, lane).read_text())
            return end.get("network", end["network_backend"]), end["network_backend"]
    return None


def named(kind, what):
    """The text that `--only` is matched with."""
    return PREFIXES[kind] + str(what)


def keep_but(folder, names):
    """Keeps, as one lane, what lanes have written, but not of runs with these names."""
    lines, ends = [], []
    for lane in written_by(folder):
        for line in results_of(folder, lane).read_text().splitlines():
            entry = json.loads(line)
            if named(entry["kind"], entry["name"]) in names:
                for verdict in Verdict:
                    shutil.rmtree(trial.kept_in(folder, verdict, entry["name"]), ignore_errors=True)
            else:
                lines.append(line + "\n")
        shutil.rmtree(folder / f"lane{lane}", ignore_errors=True)
        results_of(folder, lane).unlink()
        if written(folder, lane).exists():
            ends.append(json.loads(written(folder, lane).read_text()))
            written(folder, lane).unlink()
    if not lines or not ends:
        return
    results_of(folder, KEPT).write_text("".join(lines))
    end = dict(ends[0], frames=sum(each["frames"] for each in ends),
               malformed=sorted({name for each in ends for name in each["malformed"] if name not in names}),
               failure=next((each["failure"] for each in ends if each["failure"]), None),
               commit=", ".join(dict.fromkeys(one for each in ends for one in each["commit"].split(", "))))
    written(folder, KEPT).write_text(json.dumps(end, indent=1))


def read(folder, number, share):
    """What came out of a share: the results by kind, and the rest as the lane wrote it, None if it broke off."""
    cells_by_name = {str(cell): cell for cell in (*share.chosen, *share.iwarp)}
    names = set(share.names())
    own = packed({"ipv4": network.HOST4, "ipv6": network.HOST6})
    results = {kind: [] for kind in KINDS}
    file = results_of(folder, number)
    for line in file.read_text().splitlines() if file.exists() else ():
        entry = json.loads(line)
        if named(entry["kind"], entry["name"]) not in names:
            # From a version of the suite that has changed since.
            continue
        result = Result(entry["name"], Verdict[entry["verdict"]], entry["reason"], entry["seconds"],
                        wire.Seen(**entry["seen"]))
        if result.verdict is Verdict.FAILED and entry["kind"] in (MATRIX, IWARP):
            # Told by what was kept, so that a report can be written anew.
            trial.reconsider(result, cells_by_name[result.name], folder, own)
        results[entry["kind"]].append(result)
    end = written(folder, number)
    return results, json.loads(end.read_text()) if end.exists() else None
