# SPDX-License-Identifier: Apache-2.0
"""What playing rdma-core's tests needs, built or fetched into target/interop-pyverbs, and the command lines that use it.

GraalPy comes by Maven; the tests, and pyverbs itself, from Debian's package python3-pyverbs.
"""
import gzip
import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent.parent
FOLDER = ROOT / "target" / "interop-pyverbs"
BUILT = ROOT / "rdma4j-tools" / "target" / "launcher-rdma4j-tools"
GRAALPY = "25.0.1"
PACKAGE = "python3-pyverbs"
TESTS_OF_PACKAGE = "usr/share/doc/rdma-core/tests"
MODULES_OF_PACKAGE = "usr/lib/python3/dist-packages"
# Debian's own, which the modules of the package are compiled for.
PYTHON = "/usr/bin/python3"
# By name: the device, the properties that choose how its packets to itself travel, and how many processes a test of the
# connection manager has: one where packets do not leave it, and where Java's own sockets cannot share the UDP port.
SOFTWARE = {
    "roce_lo/direct": ("roce_lo", {"loopback": "direct"}, 1),
    "roce_lo/shared": ("roce_lo", {"loopback": "shared"}, 2),
    "roce_lo/network": ("roce_lo", {"loopback": "network"}, 2),
    "roce_lo/portable": ("roce_lo", {"loopback": "network", "network": "portable"}, 1),
    "roce_lo/impaired": ("roce_lo", {"impair": "loss=3%,duplicate=2%,reorder=5%,corrupt=1%,seed=47"}, 2),
    "iwarp_lo": ("iwarp_lo", {}, 2),
}
# What decides, besides its options, what a JVM does.
NOT_INHERITED = ("RDMA4J_OPTS", "JAVA_TOOL_OPTIONS", "JDK_JAVA_OPTIONS", "_JAVA_OPTIONS")
SECONDS_OF_TRAINING = 600


def prepare():
    """Builds and fetches what is missing. The JDK's home."""
    subprocess.run([str(ROOT / "rdma4j"), "--version"], check=True, stdout=subprocess.DEVNULL)
    jdk = home_of_jdk()
    fetch_graalpy(jdk)
    fetch_package()
    compile_bridge(jdk)
    return jdk


def home_of_jdk():
    return subprocess.run(["sh", "-euc", 'name=interop/pyverbs/run; . "$0/build/jdk.sh"; printf %s "$jdk"', str(ROOT)],
                          check=True, capture_output=True, text=True).stdout


def fetch_graalpy(jdk):
    jars = FOLDER / "graalpy"
    done = jars / GRAALPY
    if done.exists():
        return
    print(f"fetching GraalPy {GRAALPY} ...", flush=True)
    shutil.rmtree(jars, ignore_errors=True)
    pom = FOLDER / "graalpy.xml"
    pom.write_text(f"""<project xmlns="http://maven.apache.org/POM/4.0.0">
  <modelVersion>4.0.0</modelVersion>
  <groupId>io.rdma4j</groupId>
  <artifactId>rdma4j-interop-pyverbs</artifactId>
  <version>0</version>
  <dependencies>
    <dependency>
      <groupId>org.graalvm.polyglot</groupId>
      <artifactId>polyglot</artifactId>
      <version>{GRAALPY}</version>
    </dependency>
    <dependency>
      <groupId>org.graalvm.polyglot</groupId>
      <artifactId>python-community</artifactId>
      <version>{GRAALPY}</version>
      <type>pom</type>
    </dependency>
  </dependencies>
</project>
""")
    fetched = subprocess.run(["mvn", "-B", "-f", str(pom), "dependency:copy-dependencies", f"-DoutputDirectory={jars}",
                              "-DincludeTypes=jar"], cwd=FOLDER, env=dict(os.environ, JAVA_HOME=jdk), text=True,
                             stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    if fetched.returncode:
        sys.exit(f"interop/pyverbs/run: Maven could not fetch GraalPy:\n{fetched.stdout}")
    done.touch()


def fetch_package():
    """The tests as the package has them, but for their compression, and its Python modules."""
    tests, modules, done = FOLDER / "tests", FOLDER / "pyverbs", FOLDER / "package.version"
    if done.exists():
        return
    scratch = FOLDER / "package"
    for folder in (scratch, tests, modules):
        shutil.rmtree(folder, ignore_errors=True)
    scratch.mkdir()
    print(f"fetching {PACKAGE} ...", flush=True)
    download = ["apt-get", "-q", "-o", "APT::Sandbox::User=root", "download", PACKAGE]
    if subprocess.run(download, cwd=scratch, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL).returncode:
        # A fresh machine has no list of packages yet.
        subprocess.run(["apt-get", "-q", "update"], check=True, stdout=subprocess.DEVNULL)
        subprocess.run(download, check=True, cwd=scratch, stdout=subprocess.DEVNULL)
    package, = scratch.glob("*.deb")
    version = subprocess.run(["dpkg-deb", "-f", str(package), "Version"], check=True, capture_output=True,
                             text=True).stdout.strip()
    subprocess.run(["dpkg-deb", "-x", str(package), str(scratch / "files")], check=True)
    tests.mkdir()
    for file in (scratch / "files" / TESTS_OF_PACKAGE).iterdir():
        if file.suffix == ".gz":
            (tests / file.stem).write_bytes(gzip.decompress(file.read_bytes()))
        else:
            shutil.copy2(file, tests / file.name)
    (scratch / "files" / MODULES_OF_PACKAGE).rename(modules)
    shutil.rmtree(scratch)
    done.write_text(version)


def version_of_package():
    return (FOLDER / "package.version").read_text()


def class_path():
    # An archive of classes fits only jars, in this order.
    jars = [FOLDER / "bridge.jar", *sorted((FOLDER / "graalpy").glob("*.jar")), *sorted((BUILT / "lib").glob("*.jar"))]
    return ":".join(map(str, jars))


def compile_bridge(jdk):
    """Compiles it, and has a JVM keep the classes of a short run, so that the others start in a fraction of the time."""
    jar, archive, trained = FOLDER / "bridge.jar", FOLDER / "classes.aot", FOLDER / "trained"
    sources = [str(path) for path in (HERE / "java" / "pyverbs").glob("*.java")]
    newest = max(os.path.getmtime(path) for path in [*sources, *(BUILT / "lib").glob("*.jar")])
    # Written last: whatever was interrupted is made anew.
    if trained.exists() and trained.stat().st_mtime > newest:
        return
    for file in (trained, archive, jar):
        file.unlink(missing_ok=True)
    classes = FOLDER / "classes"
    shutil.rmtree(classes, ignore_errors=True)
    subprocess.run([f"{jdk}/bin/javac", "-Xlint:all,-restricted,-path", "-Werror", "-cp", class_path(), "-d", str(classes),
                    *sources], check=True)
    subprocess.run([f"{jdk}/bin/jar", "--create", "--file", str(jar), "-C", str(classes), "."], check=True)
    print("training the JVM (once) ...", flush=True)
    with open(FOLDER / "training.log", "wb") as log:
        # Without it everything works as well, only slower.
        process = subprocess.Popen(on_software(jdk, "roce_lo/direct", "test_pd", "", f"-XX:AOTCacheOutput={archive}"),
                                   stdout=log, stderr=log, env=environment())
        bounded(process, SECONDS_OF_TRAINING)
    if process.returncode:
        archive.unlink(missing_ok=True)
    trained.touch()


# ---------------------------------------------------------------- command lines

def on_software(jdk, device, file, only, *options):
    """Plays a file on a software device of rdma4j."""
    name, properties, processes = SOFTWARE[device]
    named = [f"-Drdma4j.device={name}", *(f"-Drdma4j.{key}={value}" for key, value in properties.items()),
             f"-Dpyverbs.two-processes={'true' if processes == 2 else 'false'}"]
    return on_jvm(f"{jdk}/bin/java", [*options, *named], name, name.split("_", 1)[1], [file], only, [])


def on_jvm(java, options, *played):
    archive = FOLDER / "classes.aot"
    cached = [f"-XX:AOTCache={archive}", "-Xlog:aot=off", "-Xlog:cds=off"] if archive.exists() else []
    return [java, "--enable-native-access=ALL-UNNAMED", "--sun-misc-unsafe-memory-access=allow", "-XX:+UseSerialGC",
            "-XX:TieredStopAtLevel=1", *cached, *options, "-cp", class_path(), "pyverbs.Launcher", f"{HERE / 'shim'}:{HERE}",
            str(FOLDER / "compiled"), *player(*played)]


def player(device, interface, files, only, left_out):
    return [str(HERE / "player.py"), str(FOLDER / "tests"), device, interface, ",".join(files), only, json.dumps(left_out)]


def environment():
    return {key: value for key, value in os.environ.items() if key not in NOT_INHERITED}


def bounded(process, seconds):
    """Whether it ended in time; it has ended in any case."""
    try:
        process.wait(seconds)
        return True
    except subprocess.TimeoutExpired:
        return False
    finally:
        if process.poll() is None:
            process.kill()
            process.wait()
