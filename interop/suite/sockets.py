# SPDX-License-Identifier: Apache-2.0
"""Programs that know nothing of RDMA, on both sides: C programs under librspreload, and Java programs by one variable.

Debian's programs run on Linux (laboratory/image.py unpacks them). Of Java's, the JDK's HttpServer and Jetty, which Maven fetches, are
by others; the rest are the files beside `interop/run`.
"""
import hashlib
import os
import random
import subprocess
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path

from laboratory import image

from .tool import Ready, Tool

KIB, MIB, GIB = 1 << 10, 1 << 20, 1 << 30
INTEROP = Path(__file__).resolve().parent.parent
DOCUMENTS = INTEROP.parent / "target" / "interop-documents"
JETTY = INTEROP.parent / "target" / "interop-jetty"
FETCH = "org.apache.maven.plugins:maven-dependency-plugin:3.9.0:copy-dependencies"
PRELOAD = "/usr/lib/x86_64-linux-gnu/rsocket/librspreload.so"
PORT = 8471
COPY_PORT = 7427
# Of this lane. On this machine a file, in a guest one in its memory.
COPY = DOCUMENTS / f"copies-{os.getpid()}" / "copy"
DIGEST_SECONDS = 120
# An emulated guest moves 5 to 20 MB a second, and less beside compilers.
GIGABYTE_SECONDS = 900
PIECE = MIB
NOBODY = 65534
PONG_PORT = 7174
PONGS = 50
# The server of C prints nothing.
GLOBAL = """
gcc -Wall -shared -fPIC -o /run/global_ah.so "$0" -ldl -libverbs
echo waiting for datagrams
LD_PRELOAD=/run/global_ah.so exec udpong "$@"
"""
# Fetches a document and compares it; only curl is under librspreload.
CURL = f"""
set -o pipefail
found=$(LD_PRELOAD={PRELOAD} curl --silent --show-error "$0" | sha256sum) || exit
[ "$found" = "$1  -" ] || {{ echo "data differ: $found" >&2; exit 1; }}
"""
# So many connections of one program: with more, librdmacm before rdma-core 53 goes on with memory that was freed (its commit
# 24061f015), and curl crashes.
AT_ONCE = 3
CURL_AT_ONCE = f"""
cd /dev/shm
for i in $(seq {AT_ONCE}); do gets="$gets --output got$i $0?$i"; done
LD_PRELOAD={PRELOAD} curl --silent --show-error --parallel $gets
for i in $(seq {AT_ONCE}); do
    found=$(sha256sum < got$i)
    rm got$i
    [ "$found" = "$1  -" ] || {{ echo "data differ: $found" >&2; exit 1; }}
done
"""
# It serves as nobody, so it has to begin so, for the kernel serves a device only to the user who has opened it. What it reads may be
# in a folder of root's.
MERECAT = f"""
chmod 666 /dev/infiniband/*
ulimit -l unlimited
for each in "programs {image.PROGRAMS}" "documents {DOCUMENTS}"; do
    mkdir -p "/run/${{each%% *}}"
    mountpoint -q "/run/${{each%% *}}" || mount --bind "${{each#* }}" "/run/${{each%% *}}"
done
echo "hostname = \\"$0\\"" > /run/merecat.conf
LD_LIBRARY_PATH=/run/programs/usr/lib/x86_64-linux-gnu LD_PRELOAD={PRELOAD} \\
    exec setpriv --reuid={NOBODY} --regid={NOBODY} --clear-groups \\
    /run/programs/usr/sbin/merecat -n -f /run/merecat.conf -p {PORT} /run/documents
"""


@dataclass(frozen=True)
class Programs(Tool):
    """`java(cell, end, is_server)` are the arguments of java, `c(cell, end, is_server)` the words of a command."""
    arguments: object = None
    ready: Ready = Ready(cm=PORT, java_prints="listening|Serving")
    has_patience: bool = False
    java: object = field(kw_only=True)
    c: object = field(kw_only=True)

    def call(self, cell, end, is_server, is_java):
        if is_java:
            return "java", self.java(cell, end, is_server)
        program, *words = self.c(cell, end, is_server)
        return program, words


def make_room_for_copy(guest):
    """On this machine without a guest."""
    COPY.parent.mkdir(parents=True, exist_ok=True)
    COPY.unlink(missing_ok=True)
    if guest:
        folder = COPY.parent
        guest.sh(f"""
            mountpoint -q {folder} || mount -t tmpfs -o size=1100M tmpfs {folder}
            rm -f {COPY}""")


@dataclass(frozen=True)
class Copies(Tool):
    """rcopy, whose copies are looked at."""
    ready: Ready = Ready(cm=COPY_PORT, java_prints="waiting for connection")
    arguments: object = None
    has_patience: bool = False
    server_stays: bool = True
    program_name: str = "rcopy"
    # The C program has no others.
    families: tuple = ("ipv4",)

    def call(self, cell, end, is_server, is_java):
        port = ["-p", str(COPY_PORT)]
        if is_server:
            return self.program, [*port, *(["-b", end.own] if is_java else [])]
        # The server is the other side.
        return self.program, [str(document(cell.size)[0]), f"{end.peer}:{COPY}", *port]

    def prepare(self, cell, serving):
        # Of both.
        document(cell.size)
        make_room_for_copy(serving.guest)

    def check(self, cell, serving):
        if serving.guest:
            found = serving.guest.sh(f"sha256sum {COPY}; rm {COPY}", DIGEST_SECONDS).split()[0]
        else:
            with open(COPY, "rb") as file:
                found = hashlib.file_digest(file, "sha256").hexdigest()
            COPY.unlink()
        return "" if found == document(cell.size)[1] else f"data differ: the copy has the SHA-256 {found}"


@dataclass(frozen=True)
class Datagrams(Tool):
    """udpong; C's only with handles that have a global route header, for Linux refuses others over RoCE."""
    ready: Ready = Ready(java_prints="waiting for datagrams", c_prints="waiting for datagrams")
    arguments: object = None
    server_stays: bool = True
    program_name: str = "udpong"
    # The preloaded library knows no others.
    families: tuple = ("ipv4",)

    def call(self, cell, end, is_server, is_java):
        words = ["-p", str(PONG_PORT)]
        words += ["-b", end.own] if is_server else ["-s", end.peer, "-S", str(cell.size), "-C", str(PONGS), "-T", "e"]
        return (self.program, words) if is_java else ("bash", ["-ec", GLOBAL, str(INTEROP / "global_ah.c"), *words])


@cache
def document(size):
    """A file of so many bytes, always the same, which guests see as well, and its SHA-256."""
    drawn = random.Random(size)
    digest = hashlib.sha256()
    DOCUMENTS.mkdir(parents=True, exist_ok=True)
    begun = DOCUMENTS / f"{size}.{os.getpid()}"
    with open(begun, "wb") as file:
        for at in range(0, size, PIECE):
            piece = drawn.randbytes(min(PIECE, size - at))
            digest.update(piece)
            file.write(piece)
    # Another lane may do the same.
    begun.replace(DOCUMENTS / str(size))
    return DOCUMENTS / str(size), digest.hexdigest()


def url(host, file):
    return f"http://{f'[{host}]' if ':' in host else host}:{PORT}/{file.name}"


def source(name):
    return str(INTEROP / f"{name}.java")


def c_iperf(cell, end, is_server):
    """It sends at least what it writes at once, 128 KiB."""
    family = ["-V"] if cell.family == "ipv6" else []
    words = ["env", f"LD_PRELOAD={PRELOAD}", str(image.PROGRAMS / "usr/bin/iperf"), *family, "-p", str(PORT)]
    return [*words, "-s", "-P", "1", "-B", end.own] if is_server else [*words, "-c", end.peer, "-n", str(cell.size)]


def java_iperf(cell, end, is_server):
    return ([source("Takes"), end.own, str(PORT), str(cell.size)] if is_server
            else [source("Gives"), end.peer, str(PORT), str(cell.size)])


def java_iperf_plain(cell, end, is_server):
    return [source("Plain"), "takes" if is_server else "gives", end.own if is_server else end.peer, str(PORT), str(cell.size)]


def c_http(cell, end, is_server):
    file, digest = document(cell.size)
    return ["bash", "-ec", MERECAT, end.own] if is_server else ["bash", "-c", CURL, url(end.peer, file), digest]


def c_http_at_once(cell, end, _):
    file, digest = document(cell.size)
    return ["bash", "-ec", CURL_AT_ONCE, url(end.peer, file), digest]


def java_http(cell, end, is_server):
    file, digest = document(cell.size)
    return (["-m", "jdk.httpserver", "-b", end.own, "-p", str(PORT), "-d", str(DOCUMENTS)] if is_server
            else [source("Fetches"), url(end.peer, file), digest])


@cache
def jetty_jars():
    """The folder of Jetty's jars."""
    if not any(JETTY.glob("jetty-server-*.jar")):
        fetched = subprocess.run(["mvn", "-B", "-q", "-f", str(INTEROP / "jetty" / "pom.xml"), FETCH, "-DincludeScope=runtime",
                                  f"-DoutputDirectory={JETTY}"], capture_output=True, text=True)
        if fetched.returncode:
            raise OSError(f"Maven did not fetch Jetty: {fetched.stdout.strip()}")
    return JETTY


def java_jetty(cell, end, _):
    # Without a logger it warns that there is none.
    return ["-Dslf4j.internal.verbosity=ERROR", "-cp", f"{jetty_jars()}/*", source("Jetty"), end.own, str(PORT), str(DOCUMENTS)]


def tools(driver):
    """Those for a driver of Linux'."""
    def tool(name, sizes, java, c, **more):
        return Programs(name, sizes, java=java, c=c, driver=driver, **more)
    lossy = ("clean", "loss 1%", "reorder")
    much = GIB if driver == "rxe" else 128 * MIB

    def large(mtu):
        return [much] if mtu == 4096 else []

    def gigabyte(mtu):
        return [GIB] if mtu == 4096 else []

    alone = {"families": ("ipv4",), "nets": ("clean",), "is_in_quick": False, "most_seconds": GIGABYTE_SECONDS}
    # iWARP has no datagrams, and a datagram is one packet.
    pongs = [Datagrams("udpong", lambda mtu: [16, min(mtu, 2 * KIB) - 24], nets=lossy)] if driver == "rxe" else []
    return [
        *pongs,
        tool("iperf", lambda _: [MIB, 16 * MIB], java_iperf, c_iperf, nets=lossy, usual=MIB),
        tool("iperf-plain", lambda _: [MIB, 16 * MIB], java_iperf_plain, c_iperf, nets=lossy, usual=MIB),
        tool("iperf-large", large, java_iperf, c_iperf, **alone),
        # The server of each side does not end by itself.
        tool("http", lambda _: [1, 64 * KIB, 4 * MIB], java_http, c_http, nets=lossy, usual=64 * KIB, server_stays=True),
        tool("http-at-once", lambda _: [4 * MIB], java_http, c_http_at_once, roles=("server",), nets=lossy, server_stays=True,
             is_in_quick=False),
        Programs("jetty", lambda _: [1, 64 * KIB, 4 * MIB], java=java_jetty, c=c_http, driver=driver, roles=("server",), nets=lossy,
                 usual=64 * KIB, server_stays=True, is_in_quick=False),
        Programs("jetty-large", large, java=java_jetty, c=c_http, driver=driver, roles=("server",), server_stays=True, **alone),
        tool("http-large", large, java_http, c_http, server_stays=True, **alone),
        # The C client maps what it reads, which fails for nothing.
        Copies("rcopy-empty", lambda _: [0], roles=("client",), nets=("clean",), is_in_quick=False, driver=driver),
        Copies("rcopy", lambda mtu: [1, mtu + 1, 3 * MIB + 1], usual=3 * MIB + 1, nets=lossy, driver=driver),
        Copies("rcopy-large", gigabyte, driver=driver, **alone),
    ]
