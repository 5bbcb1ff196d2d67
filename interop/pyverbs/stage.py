# SPDX-License-Identifier: Apache-2.0
"""Makes the surroundings in which files of rdma-core's tests can be imported and run."""
import importlib
import json
import os
import subprocess
import sys
import types


def set_up(folder):
    """The tests' own modules can be imported from the folder."""
    sys.path[1:1] = [folder, os.path.dirname(folder)]
    if sys.implementation.name == 'graalpy':
        importlib.import_module('surroundings')
    # The package's own __init__ imports every file; those asked for are enough.
    package = types.ModuleType('tests')
    package.__path__ = [folder]
    sys.modules['tests'] = package


def pass_arguments(device, gid_index):
    """The options of run_tests.py."""
    sys.argv = ['run_tests.py', '--dev', device, '--port', '1', '--gid', str(gid_index)]
    from args_parser import parser
    parser.parse_args()


def answer_for(device, interface):
    """Answers what tests ask the system of the network interface below a device. Only devices that are hardware have the
    folder where they look for it."""
    check_output, exists = subprocess.check_output, os.path.exists
    interfaces = f'/sys/class/infiniband/{device}/device/net/'

    def answered(command, *args, **kwargs):
        if command == ['ls', interfaces]:
            return f'{interface}\n'.encode()
        if command[:2] == ['ip', '-j'] and interface == 'lo':
            return json.dumps([{'addr_info': [{'local': '127.0.0.1'}], 'address': '00:00:00:00:00:00'}]).encode()
        return check_output(command, *args, **kwargs)

    subprocess.check_output = answered
    os.path.exists = lambda path: path == interfaces or exists(path)
