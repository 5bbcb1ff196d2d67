# SPDX-License-Identifier: Apache-2.0
"""rdma4j's tools on a host, as a user types them, and what no output of theirs may have."""
import re
import shutil
import subprocess
import tempfile
import time
from pathlib import Path

from laboratory.processes import LocalProcess

from .namespaces import FOLDERS, RUN

ROOT = Path(__file__).resolve().parent.parent.parent
BUILT = "rdma4j-tools/target/launcher-rdma4j-tools"
LOGGING = "interop/situations/logging.properties"
# What begins a record of the log, by the format of that file.
LOG = re.compile(r"^(SEVERE|WARNING|INFO|CONFIG|FINE|FINER|FINEST) ")
LISTENS = r"listening on ListenRequest"
TRACE = re.compile(r"^\s+at [\w.$/@]+\(|Exception in thread|^Caused by: |^(java|io\.rdma4j)\.[\w.]*(Exception|Error)\b",
                   re.MULTILINE)
# Without words, which stand behind a colon or in brackets. `return status -110` is the last line of C's programs, whose words
# stand before it.
BARE_NUMBER = re.compile(r"(?<!return )\b(errno|error|status|code)[ :=(]+-?[1-9]\d*\b(?!: \S| \(\S)", re.IGNORECASE)
OF_THE_JVM = re.compile(r"\[[\d.]+s\]\[warning\]\[perf,")
# What decides, besides its options, what a tool does: only what a check sets.
NOT_INHERITED = ("RDMA4J_OPTS", "JAVA_TOOL_OPTIONS", "JDK_JAVA_OPTIONS", "_JAVA_OPTIONS", "XDG_RUNTIME_DIR")


class Installation:
    """A copy of the built tools that every user of the machine can read, and that no build changes meanwhile; and how
    long a tool takes on this machine until it does something."""

    def __init__(self, lanes):
        subprocess.run([str(ROOT / "rdma4j"), "--version"], check=True, stdout=subprocess.DEVNULL)
        self.folder = Path(tempfile.mkdtemp(prefix=f"{RUN}-", dir=FOLDERS))
        try:
            self.folder.chmod(0o755)
            scripts = [each.relative_to(ROOT) for each in (ROOT / "build").glob("*.sh")]
            for file in ("rdma4j", *scripts, LOGGING):
                (self.folder / file).parent.mkdir(parents=True, exist_ok=True)
                shutil.copy2(ROOT / file, self.folder / file)
            shutil.copytree(ROOT / BUILT, self.folder / BUILT)
            self.launcher = self.folder / "rdma4j"
            self.jdk = subprocess.run(["sh", "-euc", 'name=hosts; . "$0/build/jdk.sh"; printf %s "$jdk"', str(ROOT)],
                                      check=True, capture_output=True, text=True).stdout
            # Alone, at best; and at worst while each check that is under way starts two, which nobody waits for alone.
            self.start_seconds = min(self._start(1)[0] for _ in range(3))
            self.slow_start_seconds = max(self._start(2 * lanes))
        except BaseException:
            self.remove()
            raise

    def _start(self, number):
        """Starts a tool that has nothing to do, so many times at once; the seconds of each."""
        started = time.monotonic()
        running = [subprocess.Popen([str(self.launcher), "show_gids"], stdout=subprocess.DEVNULL) for _ in range(number)]
        return [self._end(process) - started for process in running]

    @staticmethod
    def _end(process):
        if process.wait() != 0:
            raise OSError(f"show_gids ended with status {process.returncode}")
        return time.monotonic()

    def scratch(self, name):
        """A folder for what a check needs."""
        folder = self.folder / "scratch" / name
        folder.mkdir(parents=True, exist_ok=True)
        return folder

    def remove(self):
        shutil.rmtree(self.folder, ignore_errors=True)


class Program(LocalProcess):
    """A running program of a host; knows when it started, said and ended."""

    def __init__(self, host, argv, environment):
        self.host = host
        self.started = time.monotonic()
        self.ended_at = None
        self._heard = []
        self._environment = environment
        super().__init__(["ip", "netns", "exec", host.name, "env", *(f"-u{name}" for name in NOT_INHERITED),
                          *(f"{name}={value}" for name, value in environment.items()), *map(str, argv)])
        self.words = [str(word) for word in argv]
        self.name = Path(self.words[0]).name

    def heard(self, kind, data):
        self._heard.append((time.monotonic(), data.decode(errors="replace")))
        super().heard(kind, data)

    def ended(self, status):
        self.ended_at = time.monotonic()
        super().ended(status)

    def seconds(self):
        """From its start to its end."""
        return self.ended_at - self.started

    def is_alive(self):
        return self.status is None

    def said_at(self, pattern):
        """When the pattern was complete in what it printed; None if it is not."""
        said = ""
        for at, text in self._heard:
            said += text
            if re.search(pattern, said):
                return at
        return None

    def logged(self):
        """Lines of the log from INFO on."""
        return [line for line in self.err.splitlines() if LOG.match(line) and not line.startswith("FINE")]

    def errors(self):
        """Lines on standard error that are none of the log, and not what rping always writes there."""
        return [line for line in self.err.splitlines()
                if line.strip() and not LOG.match(line) and not line.endswith("DISCONNECT EVENT...")]

    def shown(self):
        """Where it ran, what was typed and what came out."""
        variables = " ".join(f"{name}={value}" for name, value in self._environment.items())
        log = [line for line in self.err.splitlines() if not line.startswith("FINE")]
        ended = "runs" if self.status is None else f"status {self.status} after {self.seconds():.1f} s"
        return "\n".join([f"{self.host.title}$ {variables} {' '.join(self.words)}    # {ended}",
                          *self.out.splitlines()[-20:], *log[-40:]])


def unfit(text):
    """What of an output no output may have: an error's bare number, a stack trace; None if nothing.

    The JVM itself warns where two processes of the same number use one /tmp, as in containers."""
    text = "\n".join(line for line in text.split("\n") if not OF_THE_JVM.match(line))
    for pattern, what in ((TRACE, "a stack trace"), (BARE_NUMBER, "a bare error number")):
        found = pattern.search(text)
        if found:
            line = text[text.rfind("\n", 0, found.start()) + 1:].split("\n")[0]
            return f"{what} was printed: {line.strip()}"
    return None
