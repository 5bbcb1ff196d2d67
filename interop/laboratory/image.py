# SPDX-License-Identifier: Apache-2.0
"""The boot image of a guest: Debian's kernel and a small initial file system, made once for each machine."""
import hashlib
import os
import shutil
import struct
import subprocess
from pathlib import Path

CACHE = Path(os.environ.get("LAB_CACHE", Path.home() / ".cache" / "rdma4j-interop"))
# What is in it: other contents of the folder are left alone.
CONTENTS = ("root", "initrd", "initrd.gz", "source", "programs", "release", "recipe")
PACKAGES = ["qemu-system-x86", "busybox-static", "cpio", "kmod", "iproute2", "gcc", "libc6-dev", "rdma-core",
            "ibverbs-utils", "ibverbs-providers", "libibverbs-dev", "librdmacm-dev", "rdmacm-utils", "perftest",
            "tcpdump", "tshark", "curl"]
COMMANDS = ["qemu-system-x86_64", "busybox", "cpio", "modprobe", "ip", "gcc", "rdma", "rping", "ibv_rc_pingpong",
            "ib_write_bw", "tcpdump", "tshark", "curl"]
# Programs of others that are only unpacked: some that are installed begin to serve on this machine.
PROGRAM_PACKAGES = ["iperf", "merecat", "libconfuse2"]
PROGRAMS = CACHE / "programs"
PROGRAM_FILES = ["usr/bin/iperf", "usr/sbin/merecat", "usr/lib/x86_64-linux-gnu/libconfuse.so.2"]
# Files of packages whose installation no command shows.
FILES = ["/usr/include/infiniband/verbs.h", "/usr/include/rdma/rdma_cma.h", "/etc/libibverbs.d/rxe.driver",
         "/usr/lib/x86_64-linux-gnu/rsocket/librspreload.so"]
KERNEL_DEPENDENCY = "linux-image-amd64"
# In an ELF file: the kinds of the section that has the symbols and of those that are only memory, and the size of a symbol.
SYMBOLS, ONLY_MEMORY, SYMBOL_SIZE = 2, 8, 24
BOOT_MODULES = ["virtio_pci", "9pnet_virtio", "9p", "overlay"]
INIT = """#!/bin/busybox sh
/bin/busybox mkdir -p /sbin /usr/bin /usr/sbin
/bin/busybox --install -s
mount -t proc proc /proc; mount -t sysfs sys /sys; mount -t devtmpfs dev /dev
for m in {modules}; do insmod /mod/$m; done
mount -t 9p -o trans=virtio,version=9p2000.L,msize=512000,cache=mmap,ro host /host
mkdir -p /rw; mount -t tmpfs -o size=1G tmpfs /rw; mkdir -p /rw/up /rw/wk
mount -t overlay -o lowerdir=/host,upperdir=/rw/up,workdir=/rw/wk overlay /new
mount --move /proc /new/proc; mount --move /sys /new/sys; mount --move /dev /new/dev
mount -t tmpfs tmpfs /new/run; mkdir -p /new/dev/pts /new/dev/shm
mount -t devpts devpts /new/dev/pts; mount -t tmpfs tmpfs /new/dev/shm
for word in $(cat /new/proc/cmdline); do case $word in
    lab.python=*) python=${{word#*=}};;
    lab.script=*) script=${{word#*=}};;
esac; done
exec switch_root /new $python $script guest
"""


class SetupError(Exception): """A dependency is missing and cannot be installed or built."""


def is_ready():
    return is_built() and all(map(shutil.which, COMMANDS)) and all(map(os.path.exists, FILES))


def is_built():
    return (CACHE / "release").exists() and (CACHE / "recipe").exists() and (CACHE / "recipe").read_text() == recipe()


def recipe():
    """Identifies how the first file system is made: with another value it is made anew."""
    return hashlib.sha256("\n".join([INIT, *BOOT_MODULES]).encode()).hexdigest()


def release():
    """The kernel's release, once set up."""
    if not is_built():
        raise SetupError("not set up yet: run `interop/lab setup` as root")
    return (CACHE / "release").read_text().strip()


def setup(with_siw=False):
    """Installs and builds what is missing."""
    if not is_ready():
        if os.geteuid() != 0:
            raise SetupError("packages are missing, and only root can install them: run `interop/lab setup` as root")
        install(PACKAGES, update=True)
        wanted = packaged_release()
        if not is_built() or release() != wanted:
            build(wanted)
    if not all((PROGRAMS / file).exists() for file in PROGRAM_FILES):
        unpack_programs()
    if with_siw and not siw_module(release()).exists():
        build_siw(release())
    return release()


def unpack_programs():
    remove(PROGRAMS)
    PROGRAMS.mkdir()
    run("apt-get download -q " + " ".join(PROGRAM_PACKAGES) + " && for each in *.deb; do dpkg-deb -x $each .; done && rm *.deb",
        "unpacking " + ", ".join(PROGRAM_PACKAGES), cwd=PROGRAMS)


def install(packages, update=False):
    environment = dict(os.environ, DEBIAN_FRONTEND="noninteractive")
    if update:
        run(["apt-get", "update", "-q"], "apt-get update", env=environment)
    run(["apt-get", "install", "-y", "-q", "--no-install-recommends", *packages], "apt-get install", env=environment)


def run(command, what, **options):
    done = subprocess.run(command, shell=isinstance(command, str), capture_output=True, text=True, **options)
    if done.returncode != 0:
        lines = (done.stderr or done.stdout).strip().splitlines() or ["no output"]
        raise SetupError(f"{what} failed: {lines[-1]}")
    return done.stdout


def packaged_release():
    for line in run(["apt-cache", "depends", KERNEL_DEPENDENCY], "apt-cache").splitlines():
        if "Depends: linux-image-" in line:
            return line.split("linux-image-")[1].strip()
    raise SetupError(f"{KERNEL_DEPENDENCY} depends on no kernel image")


def build(wanted):
    CACHE.mkdir(parents=True, exist_ok=True)
    CACHE.chmod(0o755)
    for name in CONTENTS:
        remove(CACHE / name)
    run(f"apt-get download -q linux-image-{wanted} && dpkg-deb -x linux-image-{wanted}_*.deb root && rm linux-image-{wanted}_*.deb",
        "unpacking the kernel", cwd=CACHE)
    run(["depmod", "-b", str(CACHE / "root"), wanted], "depmod")
    build_first_file_system(wanted)
    (CACHE / "release").write_text(wanted)
    # Written last: without it the rest is not valid.
    (CACHE / "recipe").write_text(recipe())


def remove(path):
    if path.is_dir():
        shutil.rmtree(path)
    else:
        path.unlink(missing_ok=True)


def siw_module(wanted):
    return CACHE / f"root/lib/modules/{wanted}/extra/siw.ko"


def build_siw(wanted):
    """Debian ships siw as source only: the module is built against the packaged headers."""
    version = ".".join(wanted.split(".")[:2])
    install([f"linux-headers-{wanted}", f"linux-source-{version}", "make", "xz-utils"], update=True)
    source = CACHE / "source"
    shutil.rmtree(source, ignore_errors=True)
    source.mkdir()
    run(f"tar xJf /usr/src/linux-source-{version}.tar.xz --strip-components=1 "
        f"linux-source-{version}/drivers/infiniband", "unpacking the kernel's source", cwd=source)
    siw = source / "drivers/infiniband/sw/siw"
    run(["make", "-s", "-C", f"/usr/src/linux-headers-{wanted}", f"M={siw}", "CONFIG_RDMA_SIW=m", "modules"],
        "building siw")
    siw_module(wanted).parent.mkdir(parents=True, exist_ok=True)
    run(["strip", "-g", "-o", str(siw_module(wanted)), str(siw / "siw.ko")], "strip")
    shutil.rmtree(source)
    run(["depmod", "-b", str(CACHE / "root"), wanted], "depmod")


def siw_with(constants):
    """The contents of the module with other values of constants, each of one byte: what it has instead of
    parameters."""
    content = bytearray(siw_module(release()).read_bytes())
    for name, value in constants.items():
        content[place_of(name, content)] = value
    return bytes(content)


def place_of(symbol, content):
    """Where in a 64-bit ELF file the value of a symbol is."""
    table, entry_size, count = (*struct.unpack_from("<Q", content, 40), *struct.unpack_from("<HH", content, 58))
    # The offset, the size, and the section that it refers to, of each section.
    kinds = [struct.unpack_from("<I", content, table + entry_size * i + 4)[0] for i in range(count)]
    places = [struct.unpack_from("<QQI", content, table + entry_size * i + 24) for i in range(count)]
    symbols, size, names_section = places[kinds.index(SYMBOLS)]
    names = places[names_section][0]
    for at in range(symbols, symbols + size, SYMBOL_SIZE):
        name, section, value = (*struct.unpack_from("<I", content, at), *struct.unpack_from("<HQ", content, at + 6))
        if content[names + name:].split(b"\0", 1)[0].decode() == symbol:
            # Numbers outside the table are no sections: undefined, absolute, common.
            if not 0 < section < count or kinds[section] == ONLY_MEMORY:
                raise SetupError(f"siw's file has no value of its constant {symbol}")
            return places[section][0] + value
    raise SetupError(f"siw has no constant {symbol}")


def build_first_file_system(wanted):
    tree = CACHE / "initrd"
    shutil.rmtree(tree, ignore_errors=True)
    for directory in ("bin", "proc", "sys", "dev", "host", "mod", "new"):
        (tree / directory).mkdir(parents=True)
    shutil.copy(shutil.which("busybox"), tree / "bin/busybox")
    modules = []
    for name in BOOT_MODULES:
        needed = run(["modprobe", "-d", str(CACHE / "root"), "-S", wanted, "--show-depends", name], "modprobe")
        for line in needed.splitlines():
            path = Path(line.split()[1]) if line.startswith("insmod") else None
            if path and path.name not in modules:
                modules.append(path.name)
                shutil.copy(path, tree / "mod")
    (tree / "init").write_text(INIT.format(modules=" ".join(modules)))
    (tree / "init").chmod(0o755)
    run(f"find . | cpio -o -H newc 2>/dev/null | gzip -1 > {CACHE}/initrd.gz", "packing the first file system", cwd=tree)
    shutil.rmtree(tree)
