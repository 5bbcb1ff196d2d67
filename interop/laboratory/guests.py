# SPDX-License-Identifier: Apache-2.0
"""Guests: booting, commands, impairment, rebooting, shutdown."""
import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

from . import agent, image, network
from .processes import GuestProcess

RUN = Path("/tmp") / f"rdma-lab-{network.NAMESPACE}"
SCRIPT = Path(__file__).resolve().parent.parent / "lab"
BOOT_SECONDS = 240
DRIVERS = ("rxe", "siw", "none")
# What the console of a guest has when its kernel has crashed, and goes on without the thread that did.
CRASH = ("kernel BUG at ", "Oops: ", "BUG: unable to handle", "general protection fault", "Kernel panic")


class LabError(Exception):
    """An error of the laboratory."""


class Guest:
    """One Linux guest."""

    def __init__(self, number):
        self.number = number
        self.address4 = network.guest4(number)
        self.address6 = network.guest6(number)
        self._pid = RUN / f"guest{number}.pid"
        self._log = RUN / f"guest{number}.log"
        self._driver = RUN / f"guest{number}.driver"

    def boot(self, driver, memory):
        if " " in f"{SCRIPT}{image.CACHE}{sys.executable}":
            raise LabError("a guest cannot boot from a folder whose name has a space in it")
        release = image.release()
        settings = {"guest": self.number, "driver": driver, "cache": image.CACHE, "python": sys.executable,
                    "script": SCRIPT, "mtu": network.MTU, "address4": self.address4, "address6": self.address6}
        words = " ".join(f"lab.{name}={value}" for name, value in settings.items())
        qemu = ["qemu-system-x86_64", "-accel", "tcg,thread=multi", "-cpu", "max,la57=off", "-m", memory, "-smp", "2",
                "-nographic", "-no-reboot", "-nodefaults", "-serial", "stdio",
                "-kernel", str(image.CACHE / f"root/boot/vmlinuz-{release}"),
                "-initrd", str(image.CACHE / "initrd.gz"),
                "-append", f"console=ttyS0 quiet panic=-1 loglevel=3 mitigations=off {words}",
                "-virtfs", "local,path=/,mount_tag=host,security_model=none,readonly=on,multidevs=remap",
                "-netdev", f"tap,id=n0,ifname=tap{self.number},script=no,downscript=no",
                "-device", f"virtio-net-pci,netdev=n0,mac=52:54:00:77:00:{self.number:02x},"
                           f"host_mtu={network.MTU},romfile="]
        with open(self._log, "wb") as log:
            process = subprocess.Popen(network.inside(qemu), stdin=subprocess.DEVNULL, stdout=log, stderr=log,
                                       start_new_session=True)
        self._pid.write_text(str(process.pid))
        self._driver.write_text(f"{driver} {memory}")

    def await_boot(self):
        """Waits until its agent answers. For callers inside the namespace."""
        until = time.monotonic() + BOOT_SECONDS
        while not self.is_up():
            if time.monotonic() > until:
                console = self._log.read_text(errors="replace").strip().splitlines()
                raise LabError(f"guest {self.number} did not come up: {console[-1] if console else 'no console output'}")
            time.sleep(0.2)

    def is_up(self):
        try:
            return self.run(["true"], 5)[0] == 0
        except OSError:
            return False

    def crash(self):
        """What its kernel has reported of a crash since it booted; None if it has not crashed."""
        lines = self._log.read_text(errors="replace").splitlines()
        return next((line[line.index(words):] for line in lines for words in CRASH if words in line), None)

    def start(self, argv, env=None, ready=None, heard=None):
        """Starts a command. Its output is kept, or passed to `heard`."""
        return GuestProcess(self.address4, argv, env, ready, heard)

    def run(self, argv, seconds=30):
        """Runs a command to its end: exit status (None after too long), output, errors."""
        command = self.start(argv)
        status = command.wait(seconds)
        command.stop()
        return status, command.out, command.err

    def sh(self, script, seconds=30):
        """Runs a shell script that must succeed; its output."""
        status, out, err = self.run(["bash", "-ec", script], seconds)
        if status != 0:
            raise LabError(f"in guest {self.number}, status {status}: {script.strip()}: {err.strip()}")
        return out

    def impair(self, netem):
        """Impairs sent and received packets by the same netem options, or ends the impairment without any.

        Its agent's connection is spared. The machine's own kernel may lack netem, so both directions are
        impaired in the guest, what it receives on a device of its own (ifb).
        """
        self.sh("""
            tc qdisc del dev eth0 root 2>/dev/null || true
            tc filter del dev eth0 ingress 2>/dev/null || true
            ip link del ifb0 2>/dev/null || true""")
        if not netem:
            return
        spared = f"protocol ip prio 1 u32 match ip protocol 6 0xff match ip %s {agent.PORT} 0xffff"
        self.sh(f"""
            modprobe -a sch_netem sch_prio cls_u32 cls_matchall act_mirred act_gact
            modprobe ifb numifbs=0
            tc qdisc add dev eth0 root handle 1: prio bands 2 priomap 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1
            tc qdisc add dev eth0 parent 1:2 netem limit {network.QUEUE_LENGTH} {netem}
            tc filter add dev eth0 parent 1: {spared % "sport"} flowid 1:1
            ip link add ifb0 type ifb
            ip link set ifb0 mtu {network.MTU} txqueuelen {network.QUEUE_LENGTH} up
            tc qdisc add dev ifb0 root netem limit {network.QUEUE_LENGTH} {netem}
            tc qdisc replace dev eth0 clsact
            tc filter add dev eth0 ingress {spared % "dport"} action pass
            tc filter add dev eth0 ingress prio 2 matchall action mirred egress redirect dev ifb0""")

    def fill_udp_checksums(self, is_on):
        """Whether UDP over IPv6 gets the checksum that rdma_rxe leaves out."""
        self.sh("tc filter del dev eth0 egress 2>/dev/null || true")
        if is_on:
            self.sh("""
                modprobe -a cls_matchall act_csum
                tc qdisc replace dev eth0 clsact
                tc filter add dev eth0 egress protocol ipv6 matchall action csum udp""")

    def drive(self, driver, constants=None):
        """Changes the driver until the next boot: rxe, siw, or none; siw also to one with other constants."""
        self.sh("""
            for device in $(ls /sys/class/infiniband); do rdma link delete $device; done
            for module in rdma_rxe siw; do if grep -q "^$module " /proc/modules; then modprobe -r $module; fi; done
            rm -f /etc/libibverbs.d/*.driver""")
        if driver != "none":
            module = {"rxe": "rdma_rxe", "siw": "siw"}[driver]
            self.sh(f"""
                echo driver {driver} > /etc/libibverbs.d/{driver}.driver
                modprobe {module}
                {"" if constants is None else self._other_module(module, constants)}
                rdma link add {driver}0 type {driver} netdev eth0""")

    def _other_module(self, module, constants):
        """The commands that load it in place of the module with the usual constants."""
        file = RUN / f"guest{self.number}-{'-'.join(f'{name}-{value}' for name, value in constants.items())}.ko"
        file.write_bytes(image.siw_with(constants))
        return f"rmmod {module}; insmod {file}"

    def set_mtu(self, mtu):
        self.sh(f"ip link set eth0 mtu {mtu}")

    def is_on(self):
        """Whether its virtual machine runs."""
        try:
            words = Path(f"/proc/{self._pid.read_text()}/cmdline").read_bytes().split(b"\0")
        except FileNotFoundError:
            return False
        return f"ifname=tap{self.number}".encode() in b" ".join(words)

    def switch_off(self):
        """Ends the virtual machine at once, like a power failure."""
        if self.is_on():
            machine = int(self._pid.read_text())
            os.killpg(machine, signal.SIGKILL)
            try:
                os.waitpid(machine, 0)
            except ChildProcessError:
                # Another program has booted it.
                pass
        self._pid.unlink(missing_ok=True)

    def reboot(self):
        """Ends the virtual machine at once and boots again, without waiting."""
        driver, memory = self._driver.read_text().split()
        self.switch_off()
        self._await_tap()
        self.boot(driver, memory)

    def _await_tap(self):
        """Waits until the tap device is free, when its last owner has ended."""
        until = time.monotonic() + 10
        carrier = ["cat", f"/sys/class/net/tap{self.number}/carrier"]
        while subprocess.run(network.inside(carrier), capture_output=True, text=True).stdout.strip() == "1":
            if time.monotonic() > until:
                raise LabError(f"guest {self.number} does not go")
            time.sleep(0.05)


def up(drivers, memory="2G"):
    """Makes the network and boots a guest for each driver: rxe, siw or none."""
    image.release()
    if any(guest.is_on() for guest in all_guests()):
        raise LabError(f"already up: `LAB_NS={network.NAMESPACE} interop/lab down` first")
    # Remains of a killed run.
    down()
    RUN.mkdir()
    network.create(len(drivers))
    for number, driver in enumerate(drivers, 1):
        Guest(number).boot(driver, memory)


def all_guests():
    return [Guest(number) for number in range(1, len(list(RUN.glob("guest*.driver"))) + 1)]


def down():
    for guest in all_guests():
        guest.switch_off()
    network.delete()
    shutil.rmtree(RUN, ignore_errors=True)
