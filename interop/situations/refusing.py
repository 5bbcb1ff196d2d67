#!/usr/bin/env python3
"""Runs a command for which the kernel refuses some system calls, as sandboxes do.

    refusing.py ERRNO CALL[,CALL ...] -- COMMAND ...

A CALL is a name such as `sendmsg`, or one with the values that its second and third arguments must have to be refused,
such as `setsockopt:1:51` (level, option) or `fcntl:37`. Needs no root: the filter holds for the command and all that it
starts, which cannot gain rights any more.
"""
import ctypes
import errno
import os
import platform
import struct
import sys

PR_SET_NO_NEW_PRIVS, PR_SET_SECCOMP, SECCOMP_MODE_FILTER = 38, 22, 2
RETURN_ERRNO, RETURN_ALLOW = 0x00050000, 0x7FFF0000
# Of struct seccomp_data.
NUMBER_AT, ARGUMENTS_AT = 0, 16
LOAD_WORD, JUMP_IF_EQUAL, RETURN = 0x20, 0x15, 0x06
NUMBERS = {
    "x86_64": {
        "poll": 7, "lseek": 8, "mmap": 9, "munmap": 11, "ioctl": 16, "pread64": 17, "pwrite64": 18, "pipe": 22, "msync": 26,
        "madvise": 28, "socket": 41, "connect": 42, "accept": 43, "sendto": 44, "recvfrom": 45, "sendmsg": 46, "recvmsg": 47,
        "shutdown": 48, "bind": 49, "listen": 50, "getsockname": 51, "getpeername": 52, "socketpair": 53, "setsockopt": 54,
        "getsockopt": 55, "fcntl": 72, "flock": 73, "ftruncate": 77, "epoll_wait": 232, "epoll_ctl": 233, "ppoll": 271,
        "splice": 275, "timerfd_create": 283, "eventfd": 284, "accept4": 288, "eventfd2": 290, "epoll_create1": 291,
        "pipe2": 293, "recvmmsg": 299, "sendmmsg": 307, "process_vm_readv": 310, "getrandom": 318, "memfd_create": 319,
        "membarrier": 324, "pidfd_send_signal": 424, "pidfd_open": 434, "pidfd_getfd": 438, "epoll_pwait2": 441},
    "aarch64": {
        "eventfd2": 19, "epoll_create1": 20, "epoll_ctl": 21, "epoll_pwait": 22, "fcntl": 25, "ioctl": 29, "flock": 32,
        "ftruncate": 46, "pipe2": 59, "lseek": 62, "pread64": 67, "pwrite64": 68, "ppoll": 73, "splice": 76,
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


def program(refused, error):
    """The filter: for each call its number is compared, then the arguments that were given."""
    code = b""
    for number, arguments in refused:
        # Over what is left of this call, if one comparison fails.
        left = 2 * len(arguments) + 1
        code += instruction(LOAD_WORD, 0, 0, NUMBER_AT) + instruction(JUMP_IF_EQUAL, 0, left, number)
        for at, value in enumerate(arguments, 1):
            left -= 2
            code += instruction(LOAD_WORD, 0, 0, ARGUMENTS_AT + 8 * at)
            code += instruction(JUMP_IF_EQUAL, 0, left, value)
        code += instruction(RETURN, 0, 0, RETURN_ERRNO | error)
    return code + instruction(RETURN, 0, 0, RETURN_ALLOW)


def refuse(refused, error):
    libc = ctypes.CDLL(None, use_errno=True)
    code = program(refused, error)
    memory = ctypes.create_string_buffer(code, len(code))
    header = struct.pack("HxxxxxxP", len(code) // 8, ctypes.addressof(memory))
    for call in ((PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0), (PR_SET_SECCOMP, SECCOMP_MODE_FILTER, header, 0, 0)):
        if libc.prctl(*call) != 0:
            raise OSError(ctypes.get_errno(), f"prctl({call[0]}): {os.strerror(ctypes.get_errno())}")


def main():
    error, calls, separator, *command = sys.argv[1:]
    if separator != "--" or not command:
        sys.exit(__doc__)
    refused = []
    for call in calls.split(","):
        name, *arguments = call.split(":")
        refused.append((numbers()[name], [int(argument) for argument in arguments]))
    refuse(refused, getattr(errno, error))
    os.execvp(command[0], command)


if __name__ == "__main__":
    main()
