# SPDX-License-Identifier: Apache-2.0
"""The two ends of a run: a Linux guest with the C programs, and Java on this machine or in another guest."""
import copy
import re
import subprocess
import tempfile
from functools import cache
from pathlib import Path

from laboratory import network
from laboratory.processes import LocalProcess

from . import tools
from .tool import End

ROOT = Path(__file__).resolve().parent.parent.parent
LAUNCHER = ROOT / "rdma4j"
LOGGING = ROOT / "interop" / "logging.properties"
# A run is over before the second compiler has gained what it costs, here and most of all in a guest.
SHORT_LIVED = "-XX:TieredStopAtLevel=1"
# To compile what a short run does takes an emulated machine longer than to interpret it.
INTERPRETED = "-Xint"
# In a guest's memory, from where a JVM starts twice as fast as from this machine's files.
JDK_IN_GUEST = "/dev/shm/jdk"
COPY_SECONDS = 300
TOOLS = ROOT / "rdma4j-tools" / "target" / "launcher-rdma4j-tools"
MAIN = "io.rdma4j.tools.Main"
# Those of java's that need no library.
PROGRAMS = [ROOT / "interop" / f"{name}.java" for name in ("Takes", "Gives", "Plain", "Fetches")]
CLASSES = ROOT / "target" / "interop-programs"
# What a program that is a module may not require, and the agent does.
MODULES_OF_AGENT = "java.management,jdk.jfr,jdk.net"
READY_SECONDS = 20
# Guests see this machine's files.
LINE_BUFFERS = [Path("/usr/libexec/coreutils/libstdbuf.so"), Path("/usr/lib/coreutils/libstdbuf.so")]


def jdk():
    """The home of the JDK that the launchers take."""
    script = 'name=interop; . "$0/build/jdk.sh"; printf %s "$jdk"'
    found = subprocess.run(["sh", "-euc", script, str(ROOT)], capture_output=True, text=True)
    if found.returncode != 0:
        raise OSError(found.stderr.strip())
    return found.stdout


@cache
def classes():
    """The folder of the suite's Java programs, compiled: an interpreted JVM takes minutes to compile one."""
    CLASSES.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=CLASSES) as begun:
        subprocess.run([f"{jdk()}/bin/javac", "-proc:none", "-d", begun, *map(str, PROGRAMS)], check=True)
        for file in Path(begun).iterdir():
            # Another lane may do the same.
            file.replace(CLASSES / file.name)
    return CLASSES


def compiled(arguments):
    """The arguments of java with a class in place of a file of source code."""
    return [word for each in arguments
            for word in (["-cp", str(classes()), Path(each).stem] if Path(each) in PROGRAMS else [each])]


def named(process, name):
    process.name = name
    return process


def line_by_line():
    """Makes a C program print line by line, so that its output can be followed; to a pipe it would print only at its
    end. An environment and a command to go before: stdbuf(1) does no more than to set the environment, and to start it
    takes an emulated guest as long as to start the program."""
    for library in LINE_BUFFERS:
        if library.exists():
            return {"LD_PRELOAD": str(library), "_STDBUF_O": "L"}, []
    return {}, ["stdbuf", "-oL"]


def kernel_gids(guest, driver):
    """The GIDs of a guest's device, in the order of its table. The GID of an iWARP device is not an address and not
    needed."""
    return guest.sh("cat /sys/class/infiniband/rxe0/ports/1/gids/{0..7}").split() if driver == "rxe" else []


def gid_index(gids, family):
    wanted = r"(0000:){5}ffff:" if family == "ipv4" else r"fd77:"
    return next((index for index, gid in enumerate(gids) if re.match(wanted, gid)), 0)


class LinuxEnd:
    """The C programs on a guest's rdma_rxe, or on its siw."""

    # Of files.
    side = "linux"
    is_java = False

    def __init__(self, guest, programs, driver="rxe"):
        self.guest = guest
        self.driver = driver
        self._device = f"{driver}0"
        self.address = {"ipv4": guest.address4, "ipv6": guest.address6}
        self._programs = programs
        self._environment, self._line_by_line = line_by_line()
        self._fills_checksums = False
        self.settle()

    def settle(self):
        """Must be called after the guest has booted."""
        self._gids = kernel_gids(self.guest, self.driver)
        self.guest.fill_udp_checksums(self._fills_checksums)

    def fill_checksums(self, is_on):
        """Whether IPv6 gets the UDP checksum that rdma_rxe leaves out and Java's own sockets need."""
        self._fills_checksums = is_on
        self.guest.fill_udp_checksums(is_on)

    def end(self, family, peer):
        return End(self.address[family], peer.address[family], peer.address["ipv4"], self._device,
                         gid_index(self._gids, family))

    def start(self, tool, arguments, ready=None):
        argv = [*self._line_by_line, str(self._programs.get(tool, tool)), *arguments]
        return named(self.guest.start(argv, self._environment, ready), f"linux-{tool}")

    def start_server(self, tool, arguments, ready):
        """Starts a server and waits until it is ready."""
        waited = {"tcp": ready.tcp} if ready.tcp else {"cm": ready.cm} if ready.cm else None
        server = self.start(tool, arguments, waited)
        is_ready = (server.wait_ready(READY_SECONDS) if waited
                    else server.wait_for(ready.c_prints, READY_SECONDS))
        return server, is_ready


class JavaEnd:
    """rdma4j, on this machine or in a guest: subclasses say where its processes run."""

    is_java = True
    guest = None
    # Of files.
    name = "here"
    slowness = 1

    def __init__(self, address, device, options):
        self.address = address
        self._device = device
        self._environment = {"RDMA4J_OPTS": f"{SHORT_LIVED} -Djava.util.logging.config.file={LOGGING} {options}".strip()}
        self._gids = self._look_up_gids()

    def with_options(self, options):
        """The same with additional options of the JVM."""
        other = copy.copy(self)
        other._environment = {"RDMA4J_OPTS": f"{self._environment['RDMA4J_OPTS']} {options}"}
        return other

    def _look_up_gids(self):
        listing = self.start("show_gids", [])
        if listing.wait(60) != 0:
            raise OSError(f"show_gids: {listing.err.strip()}")
        found = {}
        for line in listing.out.splitlines():
            words = line.split()
            if words[:1] == [self._device]:
                for family, start in (("ipv4", self.address["ipv4"]), ("ipv6", "fd77:")):
                    if any(word.startswith(start) for word in words[3:5]):
                        found[family] = int(words[2])
        return found

    def end(self, family, peer):
        return End(self.address[family], peer.address[family], peer.address["ipv4"], self._device,
                         self._gids.get(family, 0))

    def network_backend(self):
        """How it reaches the network: linux or portable."""
        shown = self.start("ibv_devinfo", ["-v", "-d", self._device])
        shown.wait(60)
        found = re.search(r"network back-end:\s+(\w+)", shown.out)
        if not found:
            raise OSError(f"ibv_devinfo -v names no network back-end: {shown.err.strip()}")
        return found.group(1)


class JavaHere(JavaEnd):
    """rdma4j on this machine, with its RoCE device or its iWARP device."""

    # Of files, where it is the peer of another Java.
    side = "soft"

    def __init__(self, options, family="roce"):
        super().__init__({"ipv4": network.HOST4, "ipv6": network.HOST6}, f"{family}_{network.BRIDGE}", options)

    def start(self, tool, arguments):
        """Starts a tool, or `java`, which is a program that knows nothing of RDMA."""
        words = [tool, *arguments]
        environment = self._environment
        if tool == "java":
            words = ["run", "--", *words]
            environment = {"JDK_JAVA_OPTIONS": self._environment["RDMA4J_OPTS"]}
        return named(LocalProcess([str(LAUNCHER), *words], environment), f"java-{tool}")

    def start_server(self, tool, arguments, ready):
        """Starts a server and waits until it is ready."""
        server = self.start(tool, arguments)
        is_ready = (server.await_tcp(ready.tcp, READY_SECONDS) if ready.tcp
                    else server.wait_for(ready.java_prints, READY_SECONDS))
        return server, is_ready

    def start_own_server(self, source, arguments):
        """Starts a server that is no tool but a file of source code of the suite's, and waits until it is ready."""
        server = named(LocalProcess(
            [f"{jdk()}/bin/java", *self._environment["RDMA4J_OPTS"].split(), "-XX:+UseSerialGC",
             "--enable-native-access=ALL-UNNAMED", "-cp", f"{TOOLS}/*:{TOOLS}/lib/*", str(source), *arguments]),
            f"java-{source.stem}")
        return server, server.wait_for(tools.JAVA_LISTENS, READY_SECONDS)


class JavaInGuest(JavaEnd):
    """rdma4j in a guest without RDMA driver; a JVM starts slowly there."""

    READY_SECONDS = 120
    name = "guest"
    slowness = 3

    def __init__(self, guest, options):
        self.guest = guest
        super().__init__({"ipv4": guest.address4, "ipv6": guest.address6}, "roce_eth0", options)

    def start(self, tool, arguments):
        return named(self.guest.start(self._command(tool, arguments), self._environment), f"java-{tool}")

    def _command(self, tool, arguments):
        return [str(LAUNCHER), tool, *arguments]

    def start_server(self, tool, arguments, ready):
        """Starts a server and waits until it is ready."""
        waited = {"tcp": ready.tcp} if ready.tcp else None
        server = named(self.guest.start(self._command(tool, arguments), self._environment, waited), f"java-{tool}")
        is_ready = (server.wait_ready(self.READY_SECONDS) if waited
                    else server.wait_for(ready.java_prints, self.READY_SECONDS))
        return server, is_ready


class JavaOnKernelDevice(JavaInGuest):
    """rdma4j in a guest, on the device of the kernel's driver. It starts in a few seconds on an idle machine, and in
    two minutes on a busy one."""

    READY_SECONDS = 240
    name = "native"
    slowness = 6

    def __init__(self, guest, driver):
        self.guest = guest
        self._driver = driver
        # Source code and what jlink needs are a third of it.
        guest.sh(f"""
            if [ ! -d {JDK_IN_GUEST} ]; then
                mkdir {JDK_IN_GUEST}
                cp -a {jdk()}/bin {jdk()}/conf {jdk()}/release {JDK_IN_GUEST}
                mkdir {JDK_IN_GUEST}/lib
                for file in {jdk()}/lib/*; do
                    case $file in */src.zip | *.jsa) ;; *) cp -a $file {JDK_IN_GUEST}/lib ;; esac
                done
                mkdir {JDK_IN_GUEST}/tools
                cp {TOOLS}/*.jar {TOOLS}/lib/*.jar {JDK_IN_GUEST}/tools
            fi""", COPY_SECONDS)
        JavaEnd.__init__(self, {"ipv4": guest.address4, "ipv6": guest.address6}, f"{driver}0", "")

    def _command(self, tool, arguments):
        jvm = [f"{JDK_IN_GUEST}/bin/java", INTERPRETED, "-XX:+UseSerialGC", f"-Djava.util.logging.config.file={LOGGING}"]
        if tool == "java":
            # As `rdma4j run` starts it, which would be a second slow JVM.
            return [*jvm, f"-javaagent:{JDK_IN_GUEST}/tools/rdma4j-sockets.jar=rdma", f"--add-modules={MODULES_OF_AGENT}",
                    *compiled(arguments)]
        return [*jvm, "--enable-native-access=ALL-UNNAMED", "-cp", f"{JDK_IN_GUEST}/tools/*", MAIN, tool, *arguments]

    def _look_up_gids(self):
        listed = kernel_gids(self.guest, self._driver)
        return {family: gid_index(listed, family) for family in ("ipv4", "ipv6")}
