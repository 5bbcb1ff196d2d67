#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs a command for which the kernel refuses some system calls, as sandboxes do.

    refusing.py ERRNO CALL[,CALL ...] FILE -- COMMAND ...

A CALL is a name such as `sendmsg`, or one with the values that its arguments must have to be refused, from the one behind
the descriptor on: `setsockopt:1:51` (level, option), `fcntl:37`, or `socket:16`, whose first argument is no descriptor; one
that may be anything is empty.
The filter holds for the command and all that it starts, which cannot gain rights any more. FILE is written when the first
call is refused: a call that nobody makes proves nothing.

The kernel has a process of its own answer these calls, which outlives the command's group and ends with the command.
"""
import ctypes
import errno
import fcntl
import os
import platform
import select
import signal
import struct
import sys

PR_SET_NO_NEW_PRIVS, PR_SET_PTRACER, PR_SET_PTRACER_ANY = 38, 0x59616d61, -1
SECCOMP_SET_MODE_FILTER, NEW_LISTENER = 1, 8
ASK_LISTENER, RETURN_ALLOW = 0x7FC00000, 0x7FFF0000
# struct seccomp_notif: id, process, flags, struct seccomp_data; struct seccomp_notif_resp: id, value, error, flags.
NEXT, NEXT_LENGTH, ANSWER = 0xC0502100, 80, 0xC0182101
# Of struct seccomp_data.
NUMBER_AT, ARGUMENTS_AT = 0, 16
# Which argument is the first that can be compared; where the first is no descriptor.
FIRST = {"socket": 0}
LOAD_WORD, JUMP_IF_EQUAL, RETURN = 0x20, 0x15, 0x06
NUMBERS = {
    "x86_64": {
        "poll": 7, "lseek": 8, "mmap": 9, "munmap": 11, "ioctl": 16, "pread64": 17, "pwrite64": 18, "pipe": 22, "msync": 26,
        "madvise": 28, "socket": 41, "connect": 42, "accept": 43, "sendto": 44, "recvfrom": 45, "sendmsg": 46, "recvmsg": 47,
        "shutdown": 48, "bind": 49, "listen": 50, "getsockname": 51, "getpeername": 52, "socketpair": 53, "setsockopt": 54,
        "getsockopt": 55, "fcntl": 72, "flock": 73, "ftruncate": 77, "epoll_wait": 232, "epoll_ctl": 233, "ppoll": 271,
        "splice": 275, "timerfd_create": 283, "eventfd": 284, "fallocate": 285, "accept4": 288, "eventfd2": 290, "epoll_create1": 291,
        "pipe2": 293, "recvmmsg": 299, "sendmmsg": 307, "process_vm_readv": 310, "getrandom": 318, "memfd_create": 319,
        "membarrier": 324, "pidfd_send_signal": 424, "pidfd_open": 434, "pidfd_getfd": 438, "epoll_pwait2": 441, "seccomp": 317},
    "aarch64": {
        "eventfd2": 19, "epoll_create1": 20, "epoll_ctl": 21, "epoll_pwait": 22, "fcntl": 25, "ioctl": 29, "flock": 32,
        "ftruncate": 46, "fallocate": 47, "pipe2": 59, "lseek": 62, "pread64": 67, "pwrite64": 68, "ppoll": 73, "splice": 76,
        "timerfd_create": 85, "socket": 198, "socketpair": 199, "bind": 200, "listen": 201, "accept": 202, "connect": 203,
        "getsockname": 204, "getpeername": 205, "sendto": 206, "recvfrom": 207, "setsockopt": 208, "getsockopt": 209,
        "shutdown": 210, "sendmsg": 211, "recvmsg": 212, "munmap": 215, "mmap": 222, "msync": 227, "madvise": 233,
        "accept4": 242, "recvmmsg": 243, "sendmmsg": 269, "process_vm_readv": 270, "getrandom": 278, "memfd_create": 279,
        "membarrier": 283, "pidfd_send_signal": 424, "pidfd_open": 434, "pidfd_getfd": 438, "epoll_pwait2": 441},
}


def numbers():
    """Of the system calls of this machine; empty where they are not known."""
    return NUMBERS.get(platform.machine(), {})


def instruction(code, if_so, otherwise, value):
    return struct.pack("HBBI", code, if_so, otherwise, value)


def program(refused):
    """The filter: for each call its number is compared, then the arguments that were given: which one, and its value."""
    code = b""
    for number, arguments in refused:
        # Over what is left of this call, if one comparison fails.
        left = 2 * len(arguments) + 1
        code += instruction(LOAD_WORD, 0, 0, NUMBER_AT) + instruction(JUMP_IF_EQUAL, 0, left, number)
        for at, value in arguments:
            left -= 2
            code += instruction(LOAD_WORD, 0, 0, ARGUMENTS_AT + 8 * at)
            code += instruction(JUMP_IF_EQUAL, 0, left, value)
        code += instruction(RETURN, 0, 0, ASK_LISTENER)
    return code + instruction(RETURN, 0, 0, RETURN_ALLOW)


def called(libc, name, *arguments):
    result = getattr(libc, name)(*arguments)
    if result < 0:
        raise OSError(ctypes.get_errno(), f"{name}: {os.strerror(ctypes.get_errno())}")
    return result


def refuse(refused):
    """Has the filter hold from now on. The descriptor by which its calls are answered."""
    libc = ctypes.CDLL(None, use_errno=True)
    code = program(refused)
    memory = ctypes.create_string_buffer(code, len(code))
    header = struct.pack("HxxxxxxP", len(code) // 8, ctypes.addressof(memory))
    called(libc, "prctl", PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0)
    return called(libc, "syscall", numbers()["seccomp"], SECCOMP_SET_MODE_FILTER, NEW_LISTENER, header)


def answer(process, told, taken, error, file):
    """Refuses until no process has the filter."""
    os.setsid()
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, signal.SIG_IGN)
    listener = int(os.read(told, 16))
    libc = ctypes.CDLL(None, use_errno=True)
    there = os.pidfd_open(process)
    listener = called(libc, "syscall", numbers()["pidfd_getfd"], there, listener, 0)
    os.write(taken, b"1")
    # Whoever reads the command's output waits until nobody can write any more.
    os.closerange(0, 3)
    os.close(taken)
    waiting = select.poll()
    waiting.register(listener, select.POLLIN)
    is_first = True
    while not any(event & select.POLLHUP for _, event in waiting.poll()):
        request = bytearray(NEXT_LENGTH)
        try:
            fcntl.ioctl(listener, NEXT, request)
            if is_first:
                os.close(os.open(file, os.O_CREAT | os.O_WRONLY, 0o666))
                is_first = False
            fcntl.ioctl(listener, ANSWER, request[:8] + struct.pack("qiI", 0, -error, 0))
        except OSError as failure:
            # Whoever called was ended meanwhile, or has taken a signal.
            if failure.errno not in (errno.ENOENT, errno.EINTR):
                raise


def main():
    error, calls, file, separator, *command = sys.argv[1:]
    if separator != "--" or not command:
        sys.exit(__doc__)
    refused = []
    for call in calls.split(","):
        name, *arguments = call.split(":")
        refused.append((numbers()[name], [(at, int(value)) for at, value in enumerate(arguments, FIRST.get(name, 1)) if value]))
    told, tells = os.pipe()
    taken, takes = os.pipe()
    process = os.getpid()
    ctypes.CDLL(None).prctl(PR_SET_PTRACER, PR_SET_PTRACER_ANY, 0, 0, 0)
    if os.fork() == 0:
        try:
            answer(process, told, takes, getattr(errno, error), file)
        finally:
            os._exit(0)
    os.close(takes)
    os.write(tells, str(refuse(refused)).encode())
    if not os.read(taken, 1):
        sys.exit("refusing.py: this kernel does not let calls be refused by another process")
    os.execvp(command[0], command)


if __name__ == "__main__":
    main()
