# SPDX-License-Identifier: Apache-2.0
"""The first process of a guest: prepares it, then runs a command for each connection.

A request is one line of JSON: `argv`, and perhaps `env` and `ready`, what to wait for:
`{"tcp": port}` or `{"cm": port}`, a listener of that kind. Answers are lines: `o` or `e` and output in
base64, `r` once the listener is there, `x` and the exit status at the end. The client may send `k` and a
number to signal the command; when it disconnects, the command is killed.
"""
import base64
import json
import os
import select
import signal
import socket
import subprocess
from pathlib import Path

PORT = 9000
LISTENING = "0A"
LOOK_EVERY_SECONDS = 0.03


def options():
    words = Path("/proc/cmdline").read_text().split()
    return dict(word.split("=", 1) for word in words if word.startswith("lab.") and "=" in word)


def prepare(settings):
    release = os.uname().release
    os.environ.update(PATH="/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin", HOME="/root",
                      LAB_GUEST=settings["lab.guest"])
    subprocess.run(["bash", "-ec", f"""
        mkdir -p /lib/modules; rm -rf /lib/modules/{release}
        ln -s {settings["lab.cache"]}/root/lib/modules/{release} /lib/modules/{release}
        hostname guest{settings["lab.guest"]}
        for module in virtio_net sch_ingress ib_uverbs rdma_ucm ib_umad; do modprobe $module; done
        ip link set lo up
        ip link set eth0 mtu {settings["lab.mtu"]}
        sysctl -q net.ipv6.conf.eth0.accept_dad=0
        ip addr add {settings["lab.address4"]}/24 dev eth0
        ip -6 addr add {settings["lab.address6"]}/64 dev eth0 nodad
        ip link set eth0 up
        # Of a dozen drivers each program would load all, which takes an emulated guest longer than its work.
        find /etc/libibverbs.d -type f ! -name {settings["lab.driver"]}.driver -delete
        case {settings["lab.driver"]} in
          rxe) modprobe rdma_rxe; rdma link add rxe0 type rxe netdev eth0;;
          siw) modprobe siw; rdma link add siw0 type siw netdev eth0;;
          none) ;;
        esac"""], check=True)


def main():
    prepare(options())
    server = socket.create_server(("0.0.0.0", PORT), backlog=128, reuse_port=True)
    # Children are never waited for: the kernel reaps them.
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)
    while True:
        connection, _ = server.accept()
        if os.fork() == 0:
            signal.signal(signal.SIGCHLD, signal.SIG_DFL)
            server.close()
            try:
                serve(connection)
            except OSError:
                # The client has disconnected; the command was killed.
                pass
            os._exit(0)
        connection.close()


def serve(connection):
    lines = connection.makefile("rb")
    request = json.loads(lines.readline())
    try:
        command = subprocess.Popen(request["argv"], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                   stderr=subprocess.PIPE, cwd="/tmp", start_new_session=True,
                                   env=dict(os.environ, **request.get("env", {})))
    except OSError as failure:
        answer(connection, b"e", str(failure).encode() + b"\n")
        connection.sendall(b"x 127\n")
        return
    try:
        attend(connection, command, request.get("ready"))
        connection.sendall(b"x %d\n" % (command.wait() & 0xff))
    finally:
        signal_group(command, signal.SIGKILL)


def attend(connection, command, ready):
    outputs = {command.stdout.fileno(): b"o", command.stderr.fileno(): b"e"}
    while outputs:
        due = LOOK_EVERY_SECONDS if ready else None
        readable, _, _ = select.select([*outputs, connection], [], [], due)
        for source in readable:
            if source is connection:
                word = connection.recv(64)
                if not word:
                    raise ConnectionError("the client has disconnected")
                signal_group(command, int(word.split()[1]))
            else:
                data = os.read(source, 65536)
                if data:
                    answer(connection, outputs[source], data)
                else:
                    del outputs[source]
        if ready and is_listening(ready):
            ready = None
            connection.sendall(b"r\n")


def answer(connection, kind, data):
    connection.sendall(kind + b" " + base64.b64encode(data) + b"\n")


def signal_group(command, number):
    try:
        os.killpg(command.pid, number)
    except ProcessLookupError:
        pass


def is_listening(ready):
    if "tcp" in ready:
        return tcp_is_listening(ready["tcp"])
    shown = subprocess.run(["rdma", "resource", "show", "cm_id"], capture_output=True, text=True).stdout
    return any("state LISTEN" in line and f":{ready['cm']} " in line + " " for line in shown.splitlines())


def tcp_is_listening(port):
    """Whether a TCP port of this network namespace has a listener."""
    for table in ("/proc/self/net/tcp", "/proc/self/net/tcp6"):
        for line in Path(table).read_text().splitlines()[1:]:
            fields = line.split()
            if fields[3] == LISTENING and int(fields[1].rsplit(":", 1)[1], 16) == port:
                return True
    return False
