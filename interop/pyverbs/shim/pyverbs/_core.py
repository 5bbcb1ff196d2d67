# SPDX-License-Identifier: Apache-2.0
"""The classes of pyverbs, carried out by the Java API of rdma4j. Each holds its Java object in `j`."""
import os
import resource
import socket
import sys
import threading

import java

from pyverbs.enums import *
from pyverbs import enums as e
from pyverbs import cm_enums as ce
from pyverbs.pyverbs_error import PyverbsError, PyverbsRDMAError, PyverbsUserError

B = java.type('pyverbs.Bridge')
_Devices = java.type('io.rdma4j.verbs.RdmaDevices')
_RdmaException = java.type('io.rdma4j.verbs.RdmaException')
_PostException = java.type('io.rdma4j.verbs.PostException')
_RuntimeException = java.type('java.lang.RuntimeException')
_Exception = java.type('java.lang.Exception')
_Channel = java.type('io.rdma4j.verbs.CompletionChannel')
_EventChannel = java.type('io.rdma4j.cm.CmEventChannel')

WAIT_MS = 20000
PAGE = resource.getpagesize()
_last = threading.local()


def _note(text):
    print('NOTE ' + text, file=sys.stderr)


def _do(message, call, *args):
    """Calls Java; a failure becomes PyverbsRDMAError with the errno of C."""
    try:
        return call(*args)
    except _RdmaException as ex:
        code = ex.errorNumber()
        _last.errno = code
        _last.failed = ex.failedIndex() if isinstance(ex, _PostException) else 0
        if os.environ.get('PYVERBS_TRACE'):
            _note(f'{message}: {ex.getMessage()}')
        raise PyverbsRDMAError(message, code) from None
    except _RuntimeException as ex:
        # C has no such thing: a wrong argument is EINVAL there.
        _last.errno = 22
        _note(f'{message}: unchecked {ex.toString()}')
        raise PyverbsRDMAError(message, 22) from None


def _post(message, call, queue, wr, bad_wr):
    """As in C, bad_wr becomes the first request that was not posted."""
    chain = _do(message, wr.chain)
    try:
        _do(message, call, queue, chain)
    except PyverbsRDMAError:
        if bad_wr is not None:
            for _ in range(getattr(_last, 'failed', 0)):
                wr = wr.next_wr
            vars(bad_wr).update(vars(wr))
        raise


def PyverbsRDMAErrno(msg):
    return PyverbsRDMAError(msg, getattr(_last, 'errno', 0))


def inc_rkey(rkey):
    return (rkey & 0xffffff00) | ((rkey + 1) & 0xff)


def _u32(value):
    return value & 0xffffffff


def _s64(value):
    value = int(value) & 0xffffffffffffffff
    return value - (1 << 64) if value >= 1 << 63 else value


def _bytes(data):
    return data.encode() if isinstance(data, str) else bytes(data)


class _Array:
    """A long[] for Java."""
    _type = java.type('long[]')

    @staticmethod
    def of(values):
        made = _Array._type(len(values))
        for i, value in enumerate(values):
            made[i] = _s64(value)
        return made


class PyverbsObject:
    def __init__(self):
        pass

    def set_log_level(self, val):
        pass


class PyverbsCM(PyverbsObject):
    j = None
    what = 'object'

    def __enter__(self):
        return self

    def __exit__(self, exc_type, exc_value, traceback):
        return self.close()

    def _children(self):
        if '_kids' not in self.__dict__:
            self._kids = []
        return self._kids

    def add_ref(self, obj):
        self._children().append(obj)

    def _close_children(self):
        kids = self._children()
        order = (QP, MW, AH, SRQ, MR, CQ, CQEX, CompChannel, DM, PD, XRCD)
        for kind in order:
            for kid in [k for k in kids if isinstance(k, kind)]:
                kid.close()
        for kid in list(kids):
            kid.close()
        kids.clear()

    def close(self):
        if self.j is not None:
            self._close_children()
            j, self.j = self.j, None
            try:
                _do(f'Failed to close {self.what}', j.close)
            except PyverbsRDMAError:
                self.j = j
                raise


# ---------------------------------------------------------------- devices

class Device(PyverbsObject):
    def __init__(self, j):
        self.j = j
        self.name = j.name().encode()
        self.node_type = e.ibv_node_type[{'CHANNEL_ADAPTER': 'IBV_NODE_CA', 'RNIC': 'IBV_NODE_RNIC'}.get(
            str(j.nodeType()), 'IBV_NODE_UNSPECIFIED')]
        self.transport_type = j.transportCode()
        self.guid = j.nodeGuid() & 0xffffffffffffffff
        self.index = j.index()


def get_device_list():
    only = os.environ.get('RDMA4J_PYVERBS_DEVICES')
    return [Device(d) for d in _Devices.list() if not only or d.name() in only.split(',')]


def rdma_get_devices():
    return get_device_list()


class Context(PyverbsCM):
    what = 'device'

    def __init__(self, **kwargs):
        self.name = kwargs.get('name')
        self._borrowed = False
        cmid = kwargs.get('cmid')
        if cmid is not None:
            self.j = _do('Failed to get the context', cmid.j.context)
            self.name = self.j.device().name()
            self._borrowed = True
            cmid.ctx = self
            return
        if kwargs.get('cmd_fd') is not None:
            raise PyverbsRDMAError('Failed to import device', 95)
        if self.name is None:
            raise PyverbsUserError('Device name must be provided')
        device = _do(f'Failed to find device {self.name}', _Devices.find, self.name)
        self.j = _do(f'Failed to open device {self.name}', device.open)

    def close(self):
        if self._borrowed:
            self._close_children()
            self.j = None
        else:
            super().close()

    @property
    def num_comp_vectors(self):
        return self.j.queryDevice().completionVectors()

    def query_device(self):
        return DeviceAttr(_do(f'Failed to query device {self.name}', self.j.queryDevice))

    def query_device_ex(self, ex_input=None):
        return DeviceAttrEx(_do(f'Failed to query EX device {self.name}', self.j.queryDevice))

    def query_pkey(self, port_num, index):
        return _do(f'Failed to query pkey {index} of port {port_num}', self.j.queryPkey, port_num, index)

    def get_pkey_index(self, port_num, pkey):
        return _do(f'Failed to get pkey index of pkey = {pkey} of port {port_num}', self.j.pkeyIndex, port_num, pkey)

    def query_gid(self, port_num, index):
        return GID(B.gidText(_do(f'Failed to query gid {index} of port {port_num}', self.j.queryGid, port_num, index)))

    def query_gid_type(self, port_num, index):
        entry = _do(f'Failed to query gid type of port {port_num} and gid index {index}', self.j.queryGidEntry,
                    port_num, index)
        return e.ibv_gid_type_sysfs(1 if str(entry.type()) == 'ROCE_V2' else 0)

    def query_port(self, port_num):
        return PortAttr(_do(f'Failed to query port {port_num}', self.j.queryPort, port_num))

    def query_port_speed(self, port_num):
        return _do(f'Failed to query port speed for port {port_num}', self.j.queryPortSpeedMbps, port_num)

    def query_gid_table(self, max_entries, flags=0):
        table = list(_do('Failed to query gid tables of the device', self.j.queryGidTable))
        if len(table) > max_entries:
            # The Java interface gives the whole table, so this is the shim's.
            raise PyverbsRDMAError('Failed to query gid tables of the device', -22)
        return [GIDEntry(t) for t in table]

    def query_gid_ex(self, port_num, gid_index, flags=0):
        return GIDEntry(_do(f'Failed to query gid table of port {port_num} in index {gid_index}',
                            self.j.queryGidEntry, port_num, gid_index))

    def query_rt_values_ex(self, comp_mask=1):
        ns = _do('Failed to query real time values', self.j.queryClock)
        return divmod(ns, 10 ** 9)

    def get_async_event(self):
        event = _do('Failed to get async event', B.asyncEvent, self.j, WAIT_MS)
        if event is None:
            raise PyverbsRDMAError('No asynchronous event within the shim\'s patience', 110)
        return AsyncEvent(event)

    @property
    def cmd_fd(self):
        return 0


class DeviceAttr(PyverbsObject):
    _limits = {'max_raw_ipv6_qps': 'MAX_RAW_IPV6_QP', 'max_raw_ethy_qp': 'MAX_RAW_ETHY_QP', 'max_fmr': 'MAX_FMR'}

    def __init__(self, j):
        self.j = j

    def __getattr__(self, name):
        if name.startswith('max_') or name == 'page_size_cap':
            value = B.limit(self.j, self._limits.get(name, name.upper()))
            return value & 0xffffffffffffffff
        raise AttributeError(name)

    @property
    def fw_version(self):
        return self.j.firmwareVersion()

    @property
    def node_guid(self):
        return self.j.nodeGuid() & 0xffffffffffffffff

    @property
    def sys_image_guid(self):
        return self.j.systemImageGuid() & 0xffffffffffffffff

    @property
    def vendor_id(self):
        return _u32(self.j.vendorId())

    @property
    def vendor_part_id(self):
        return _u32(self.j.vendorPartId())

    @property
    def hw_ver(self):
        return self.j.hardwareVersion()

    @property
    def device_cap_flags(self):
        return B.capabilityBits(self.j)

    @property
    def atomic_caps(self):
        return self.j.atomicCapabilityCode()

    @property
    def phys_port_cnt(self):
        return self.j.physicalPortCount()

    @property
    def local_ca_ack_delay(self):
        return self.j.localAckDelayExponent()


class _Zero:
    def __getattr__(self, name):
        return 0


class _OdpCaps:
    def __init__(self, j):
        self.rc_odp_caps = B.odpBits(j, 'RC')
        self.uc_odp_caps = B.odpBits(j, 'UC')
        self.ud_odp_caps = B.odpBits(j, 'UD')
        self.xrc_odp_caps = B.odpBits(j, 'XRC_SEND')
        # The Java interface has only the map by type.
        self.general_caps = 1 if any(self.__dict__.values()) else 0


class DeviceAttrEx(PyverbsObject):
    def __init__(self, j):
        self.j = j

    @property
    def orig_attr(self):
        return DeviceAttr(self.j)

    @property
    def odp_caps(self):
        return _OdpCaps(self.j)

    @property
    def completion_timestamp_mask(self):
        return self.j.completionTimestampMask() & 0xffffffffffffffff

    @property
    def hca_core_clock(self):
        return self.j.clockKhz()

    @property
    def max_dm_size(self):
        return self.j.maxDeviceMemory()

    @property
    def phys_port_cnt_ex(self):
        return self.j.physicalPortCount()

    @property
    def cq_mod_caps(self):
        caps = _Zero()
        caps.max_cq_count = self.j.maxModerationCount()
        caps.max_cq_period = self.j.maxModerationPeriodUs()
        return caps

    device_cap_flags_ex = 0
    raw_packet_caps = 0
    max_wq_type_rq = 0
    comp_mask = 0
    tso_caps = rss_caps = packet_pacing_caps = tm_caps = pci_atomic_caps = _Zero()


class PortAttr(PyverbsObject):
    def __init__(self, j):
        self.state = j.stateCode()
        self.max_mtu = j.maxMtuCode()
        self.active_mtu = j.activeMtuCode()
        self.gid_tbl_len = j.gidTableLength()
        self.port_cap_flags = _u32(j.capabilityFlags())
        self.port_cap_flags2 = _u32(j.capabilityFlags2())
        self.max_msg_sz = j.maxMessageSize()
        self.bad_pkey_cntr = j.badPkeyCounter()
        self.qkey_viol_cntr = j.qkeyViolationCounter()
        self.pkey_tbl_len = j.pkeyTableLength()
        self.lid = j.lid()
        self.sm_lid = j.smLid()
        self.lmc = j.lmc()
        self.max_vl_num = j.maxVirtualLanes()
        self.sm_sl = j.smServiceLevel()
        self.subnet_timeout = j.subnetTimeoutExponent()
        self.init_type_reply = j.initTypeReply()
        self.active_width = j.activeWidthCode()
        self.active_speed = j.activeSpeedCode()
        self.active_speed_ex = 0
        self.phys_state = j.physicalStateCode()
        self.link_layer = j.linkLayerCode()
        self.flags = j.flagBits()


class GIDEntry(PyverbsObject):
    def __init__(self, j):
        self.gid_index = j.index()
        self.port_num = j.port()
        self.gid_type = j.typeCode()
        self.ndev_ifindex = j.interfaceIndex()
        self._text = B.gidText(j.gid())

    def gid_str(self):
        return self._text


class AsyncEvent(PyverbsObject):
    def __init__(self, j):
        self.j = j
        self.event_type = j.type().code()

    def ack(self):
        self.j.acknowledge()


class FdArr(PyverbsObject):
    def __init__(self, arr=(), count=0):
        self.arr, self.count = arr, count


class AllocDmAttr(PyverbsObject):
    def __init__(self, length, log_align_req=0, comp_mask=0):
        self.length, self.log_align_req, self.comp_mask = int(length), log_align_req, comp_mask


class DM(PyverbsCM):
    what = 'dm'

    def __init__(self, context, dm_attr=None, **kwargs):
        if kwargs.get('handle') is not None:
            raise PyverbsRDMAError('Failed to import DM', 95)
        most = context.query_device_ex().max_dm_size
        message = f'Failed to allocate device memory of size {dm_attr.length}. Max available size {most}'
        if dm_attr.comp_mask:
            raise PyverbsRDMAError(message, 22)
        self.j = _do(message, context.j.allocateDeviceMemory, dm_attr.length, 1 << dm_attr.log_align_req)
        context.add_ref(self)

    def copy_to_dm(self, dm_offset, data, length):
        _do('Failed to copy to dm', B.dmWrite, self.j, dm_offset, _bytes(data)[:length].decode('latin-1'))

    def copy_from_dm(self, dm_offset, length):
        return _do('Failed to copy from dm', B.dmRead, self.j, dm_offset, length).encode('latin-1')

    def export_dmabuf_fd(self):
        raise PyverbsRDMAError('Failed to export dmabuf FD for DM', 95)

    handle = 0


def _texts(table, invalid):
    return lambda value, *more: table.get(int(value), invalid)


translate_mtu = _texts({1: '256 (1)', 2: '512 (2)', 3: '1024 (3)', 4: '2048 (4)', 5: '4096 (5)'}, 'Invalid MTU')
translate_link_layer = _texts({0: 'Unspecified', 1: 'InfiniBand', 2: 'Ethernet'}, 'Invalid link layer')
phys_state_to_str = _texts({1: 'Sleep', 2: 'Polling', 3: 'Disabled', 4: 'Training', 5: 'Link up',
                            6: 'Link error recovery', 7: 'Phy test'}, 'Invalid physical state')
width_to_str = _texts({1: '1X', 2: '4X', 4: '8X', 8: '12X', 16: '2X'}, 'Invalid width')
speed_to_str = _texts({n: str(n) for n in (0, 1, 2, 4, 8, 16, 32, 64, 128, 256)}, 'Invalid speed')
translate_event_type = _texts({int(v): v.name for v in e.ibv_event_type}, 'Unknown')
translate_node_type = _texts({int(v): v.name for v in e.ibv_node_type}, 'Unknown')
qp_type_to_str = _texts({2: 'RC', 3: 'UC', 4: 'UD', 8: 'Raw Packet', 9: 'XRCD_SEND', 10: 'XRCD_RECV'}, 'Unknown')
qp_state_to_str = _texts({0: 'Reset', 1: 'Init', 2: 'RTR', 3: 'RTS', 4: 'SQD', 5: 'SQE', 6: 'Error'}, 'Unknown')
mtu_to_str = _texts({1: 256, 2: 512, 3: 1024, 4: 2048, 5: 4096}, 0)


def access_flags_to_str(flags):
    return ' '.join(f.name for f in e.ibv_access_flags if flags & f)


def gid_str(subnet_prefix, interface_id):
    return GID('%016x%016x' % (subnet_prefix, interface_id)).gid


def fork_init():
    pass


def is_fork_initialized():
    # A JVM never goes on in a forked child.
    return e.IBV_FORK_UNNEEDED


def udma_to_dev_barrier():
    pass


udma_from_dev_barrier = udma_to_dev_barrier


# ---------------------------------------------------------------- memory

MAP_ANONYMOUS_, MAP_PRIVATE_, MAP_HUGETLB_, MAP_SHARED_ = 0x20, 2, 0x40000, 1


def posix_memalign(size, alignment=8):
    return B.alloc(int(size), alignment)


def malloc(size):
    return B.alloc(int(size), 16)


def mmap(addr=0, length=100, prot=3, flags=0x22, fd=0, offset=0):
    return B.alloc(int(length), PAGE)


def free(ptr):
    B.free(ptr)


def munmap(addr, length):
    B.free(addr)


def madvise(addr, length, flags=4):
    pass


def write(addr, data, length, offset=0):
    B.write(addr + offset, _bytes(data)[:length].decode('latin-1'))


def read(addr, length, offset=0):
    return B.read(addr + offset, length).encode('latin-1')


def writebe32(addr, val, offset=0):
    write(addr, val.to_bytes(4, 'big'), 4, offset)


def writebe64(addr, val, offset=0):
    write(addr, val.to_bytes(8, 'big'), 8, offset)


def read32(addr, offset=0):
    return int.from_bytes(read(addr, 4, offset), sys.byteorder)


def read64(addr, offset=0):
    return int.from_bytes(read(addr, 8, offset), sys.byteorder)


class PD(PyverbsCM):
    what = 'PD'
    _borrowed = False

    def __init__(self, creator, **kwargs):
        if isinstance(creator, CMID):
            self.j = _do('Failed to get the PD', creator.j.protectionDomain)
            self.ctx = creator.ctx
            creator.pd = self
            self._borrowed = True
            return
        if not isinstance(creator, Context):
            raise PyverbsUserError(f'Cannot create PD from {type(creator)}')
        if kwargs.get('handle') is not None:
            raise PyverbsRDMAError('Failed to import PD', 95)
        self.ctx = creator
        if self.j is None:
            self.j = _do('Failed to allocate PD', creator.j.allocateProtectionDomain)
        creator.add_ref(self)

    def close(self):
        if self._borrowed:
            self._close_children()
            self.j = None
        else:
            super().close()

    def advise_mr(self, advise, flags, sg_list):
        _do('Failed to advise MR', B.advise, self.j, advise, bool(flags & 1), _sges(sg_list))

    def remove_ref(self, obj):
        if obj in self._children():
            self._children().remove(obj)

    handle = 0


class ParentDomainContext(PyverbsObject):
    def __init__(self, pd, alloc_func, free_func, user_data=None):
        self.pd, self.p_alloc, self.p_free, self.user_data = pd, alloc_func, free_func, user_data


class ParentDomainInitAttr(PyverbsObject):
    def __init__(self, pd, pd_context=None, comp_mask=0):
        self.pd, self.pd_context, self.comp_mask = pd, pd_context, comp_mask


class ParentDomain(PD):
    def __init__(self, context, attr):
        if attr.comp_mask & 4:
            raise PyverbsRDMAError('Failed to allocate Parent Domain', 95)
        allocator = None
        if attr.pd_context is not None:
            allocator = _allocator(attr.pd_context)
        self.j = _do('Failed to allocate Parent Domain', attr.pd.j.createParentDomain, B.parent(allocator))
        self.protection_domain = attr.pd
        super().__init__(context)
        context.remove(self) if hasattr(context, 'remove') else context._children().remove(self)
        attr.pd.add_ref(self)


def _allocator(pd_context):
    taken = {}
    lock = threading.Lock()

    def allocate(size, alignment):
        with lock:
            p = pd_context.p_alloc(pd_context.pd, pd_context, size, alignment, 0)
        return -1 if p == e._IBV_ALLOCATOR_USE_DEFAULT else (0 if p is None else p)

    def release(address):
        pd_context.p_free(pd_context.pd, pd_context, address, 0)

    return java.type('pyverbs.PythonAllocator')(allocate, release)


class MR(PyverbsCM):
    what = 'MR'
    failure = 'Failed to register a MR'

    def __init__(self, creator, length=0, access=0, address=None, implicit=False, **kwargs):
        if kwargs.get('handle') is not None:
            raise PyverbsRDMAError('Failed to import MR', 95)
        length = int(length)
        self._own = not address
        message = f'Failed to register a MR. length: {length}, access flags: {int(access)}'
        if implicit:
            raise PyverbsRDMAError(message, 95)
        self.buf = address if address else (B.alloc(length, PAGE) if length > 0 else 0)
        pd = creator
        self.j = _do(message, B.register, pd.j, self.buf, length, int(access))
        self.pd = pd
        creator.add_ref(self)

    def close(self):
        if self.j is not None:
            super().close()
            if self._own:
                B.free(self.buf)
            self.pd.remove_ref(self) if isinstance(self.pd, PD) else None
            self.buf = 0

    def write(self, data, length, offset=0):
        if not self.buf or length < 0:
            raise PyverbsUserError(f"The MR buffer isn't allocated or length {length} is invalid")
        write(self.buf, data, length, offset)

    def read(self, length, offset):
        if offset < 0:
            raise PyverbsUserError(f'Invalid offset {offset}')
        if not self.buf or length < 0:
            raise PyverbsUserError(f"The MR buffer isn't allocated or length {length} is invalid")
        return read(self.buf, length, offset)

    def rereg(self, flags, pd=None, addr=0, length=0, access=0):
        _do('Failed to rereg MR', B.reregister, self.j, flags, addr, length, pd.j if pd else None, access)
        if flags & 1:
            if self._own:
                B.free(self.buf)
            self.buf, self._own = addr, False
        if flags & 2:
            self.pd.remove_ref(self)
            self.pd = pd
            pd.add_ref(self)

    @property
    def lkey(self):
        return _u32(self.j.lkey())

    @property
    def rkey(self):
        return _u32(self.j.rkey())

    @property
    def length(self):
        return self.j.length()

    handle = 0


class MREx(MR):
    def __init__(self, pd, length=0, access=0, address=None, iova=None, fd=None, fd_offset=0, dmah=None,
                 implicit=False, buf=None, **kwargs):
        message = 'Failed to register MR using extended API'
        if fd is not None or dmah is not None or implicit or buf is not None:
            raise PyverbsRDMAError(message, 22 if fd is not None and implicit else 95)
        length = int(length)
        self._own = not address
        self.buf = address if address else (B.alloc(length, PAGE) if length > 0 else 0)
        self.j = _do(message, B.registerEx, pd.j, self.buf, length, int(access), iova is not None, iova or 0)
        self.pd = pd
        pd.add_ref(self)


class DMMR(MR):
    def __init__(self, pd, length, access, dm, offset):
        self.buf, self._own = 0, False
        length = int(length)
        self.j = _do(f'Failed to register a device MR. length: {length}, access flags: {int(access)}',
                     B.registerDm, pd.j, dm.j, offset, length, int(access))
        self.pd, self.dm = pd, dm
        pd.add_ref(self)
        dm.add_ref(self)

    def write(self, data, length, offset=0):
        return self.dm.copy_to_dm(offset, data, length)

    def read(self, length, offset):
        return self.dm.copy_from_dm(offset, length)


class DmaBuf(PyverbsCM):
    def __init__(self, size, gpu=0, gtt=0):
        raise PyverbsRDMAError('Failed to allocate dmabuf', 2)


class DmaBufMR(MR):
    def __init__(self, *args, **kwargs):
        raise PyverbsRDMAError('Failed to register a dma-buf MR', 95)


class MWBindInfo(PyverbsCM):
    def __init__(self, mr, addr, length, mw_access_flags):
        self.mr, self.addr, self.length, self.mw_access_flags = mr, addr, length, mw_access_flags

    def java(self):
        return B.bindInfo(self.mr.j, self.addr, self.length, int(self.mw_access_flags))

    def close(self):
        pass


class MWBind(PyverbsCM):
    def __init__(self, info, send_flags, wr_id=0):
        self.info, self.send_flags, self.wr_id = info, send_flags, wr_id

    def close(self):
        pass


class MW(PyverbsCM):
    what = 'MW'

    def __init__(self, pd, mw_type):
        self.j = _do('Failed to allocate MW', B.window, pd.j, int(mw_type))
        self.type = mw_type
        pd.add_ref(self)

    @property
    def rkey(self):
        return _u32(self.j.rkey())


# ---------------------------------------------------------------- completions

class CompChannel(PyverbsCM):
    what = 'completion channel'

    def __init__(self, context):
        self.j = _Channel.create()
        context.add_ref(self)

    def get_cq_event(self, expected_cq):
        cq = _do('Failed to get CQ event', B.event, self.j, WAIT_MS)
        if cq is None:
            raise PyverbsRDMAError('Failed to get CQ event: none within the patience of the shim', 110)
        if not cq.equals(expected_cq.j):
            raise PyverbsRDMAError('Received event on an unexpected CQ', 0)
        expected_cq.num_events += 1


class CQ(PyverbsCM):
    what = 'CQ'

    def __init__(self, context, cqe, cq_context=None, channel=None, comp_vector=0):
        self.num_events = 0
        self.comp_channel = channel
        self.j = _do('Failed to create a CQ', B.cq, context.j, int(cqe), channel.j if channel else None,
                     comp_vector)
        self.context = context
        context.add_ref(self)
        if channel:
            channel.add_ref(self)

    def close(self):
        if self.j is not None:
            if self.num_events:
                self.j.acknowledgeEvents(self.num_events)
                self.num_events = 0
            super().close()

    def resize(self, cqe):
        _do('Failed to resize CQ', self.j.resize, cqe)

    def poll(self, num_entries=1):
        got = _do('Failed to poll CQ', B.poll, self.j, num_entries)
        n = len(got) // 13
        return n, [WC._of(got, 13 * i) for i in range(n)]

    def req_notify(self, solicited_only=False):
        _do('Request notify CQ returned',
            self.j.requestSolicitedNotification if solicited_only else self.j.requestNotification)

    def ack_events(self, num_events):
        self.j.acknowledgeEvents(num_events)
        self.num_events -= num_events

    @property
    def cqe(self):
        return self.j.capacity()


class WC(PyverbsObject):
    def __init__(self, wr_id=0, status=0, opcode=0, vendor_err=0, byte_len=0, qp_num=0, src_qp=0, imm_data=0,
                 wc_flags=0, pkey_index=0, slid=0, sl=0, dlid_path_bits=0):
        self.__dict__.update({k: v for k, v in locals().items() if k != 'self'})

    @classmethod
    def _of(cls, got, at):
        imm = got[at + 7]
        flags = got[at + 8]
        if not flags & 8:
            imm = socket.htonl(imm)
        return cls(wr_id=got[at], status=got[at + 1], opcode=got[at + 2], vendor_err=got[at + 3],
                   byte_len=got[at + 4], qp_num=got[at + 5], src_qp=got[at + 6], imm_data=imm, wc_flags=flags,
                   pkey_index=got[at + 9], slid=got[at + 10], sl=got[at + 11], dlid_path_bits=got[at + 12])


class CqInitAttrEx(PyverbsObject):
    def __init__(self, cqe=100, channel=None, comp_vector=0, wc_flags=0, comp_mask=0, flags=0, parent_domain=None):
        self.__dict__.update({k: v for k, v in locals().items() if k != 'self'})
        self.comp_channel = channel


class PollCqAttr(PyverbsObject):
    comp_mask = 0


class WcTmInfo(PyverbsObject):
    tag = priv = 0


class CQEX(PyverbsCM):
    what = 'CQEX'

    def __init__(self, context, init_attr):
        a = init_attr
        flags = int(a.flags) if a.comp_mask & 1 else 0
        parent = a.parent_domain.j if a.comp_mask & 2 and a.parent_domain else None
        message = 'Failed to create extended CQ'
        if int(a.wc_flags) & ~0xfff or flags & ~3:
            raise PyverbsRDMAError(message, 95)
        self.j = _do(message, B.cqEx, context.j, int(a.cqe), a.comp_channel.j if a.comp_channel else None,
                     a.comp_vector, int(a.wc_flags), bool(flags & 1), bool(flags & 2), parent)
        self.comp_channel = a.comp_channel
        self._now = None
        self._open = False
        self.num_events = 0
        if a.parent_domain and parent is not None:
            a.parent_domain.add_ref(self)
        context.add_ref(self)

    def start_poll(self, attr):
        if not _do('Failed to start polling', self.j.startPoll):
            return 2
        self._take()
        self._open = True
        return 0

    def poll_next(self):
        if not self.j.nextPoll():
            return 2
        self._take()
        return 0

    def _take(self):
        self._now = WC._of(B.numbers(self.j.current()), 0)
        self._stamp = self.j.current().completionTimestamp()
        self._wall = self.j.current().completionWallclockNs()

    def end_poll(self):
        if self._open:
            self._open = False
            self.j.endPoll()

    status = property(lambda self: self._now.status)
    wr_id = property(lambda self: self._now.wr_id)

    def read_opcode(self):
        return self._now.opcode

    def read_vendor_err(self):
        return self._now.vendor_err

    def read_byte_len(self):
        return self._now.byte_len

    def read_imm_data(self):
        return self._now.imm_data

    def read_qp_num(self):
        return self._now.qp_num

    def read_src_qp(self):
        return self._now.src_qp

    def read_wc_flags(self):
        return self._now.wc_flags

    def read_slid(self):
        return self._now.slid

    def read_sl(self):
        return self._now.sl

    def read_dlid_path_bits(self):
        return self._now.dlid_path_bits

    def read_timestamp(self):
        return self._stamp

    def read_completion_wallclock_ns(self):
        return self._wall

    def req_notify(self, solicited_only=False):
        _do('Request notify CQ returned',
            self.j.requestSolicitedNotification if solicited_only else self.j.requestNotification)


# ---------------------------------------------------------------- addresses

class GID(PyverbsObject):
    def __init__(self, val=None):
        self.gid = val if val else '0' * 32

    @property
    def gid(self):
        return self._gid

    @gid.setter
    def gid(self, val):
        digits = val.replace(':', '')
        if len(digits) != 32:
            raise PyverbsUserError(f'Invalid GID value ({val})')
        self._gid = ':'.join(digits[i:i + 4] for i in range(0, 32, 4))

    def __str__(self):
        return self._gid


class GRH(PyverbsObject):
    def __init__(self, sgid=None, dgid=None, version_tclass_flow=0, paylen=0, next_hdr=0, hop_limit=1):
        self.__dict__.update({k: v for k, v in locals().items() if k != 'self'})


class GlobalRoute(PyverbsObject):
    def __init__(self, dgid=None, flow_label=0, sgid_index=0, hop_limit=1, traffic_class=0):
        self.dgid = dgid or GID()
        self.flow_label, self.sgid_index = flow_label, sgid_index
        self.hop_limit, self.traffic_class = hop_limit, traffic_class


class AHAttr(PyverbsObject):
    def __init__(self, dlid=0, sl=0, src_path_bits=0, static_rate=0, is_global=0, port_num=1, gr=None):
        self.dlid, self.sl, self.src_path_bits, self.static_rate = dlid, sl, src_path_bits, static_rate
        self.is_global, self.port_num = is_global, port_num
        if is_global and gr is None:
            raise PyverbsUserError('Global AH Attr is created but gr parameter is None')
        gr = gr if is_global else GlobalRoute(hop_limit=0)
        dgid = gr.dgid
        self.dgid = dgid.gid if isinstance(dgid, GID) else dgid
        self.flow_label, self.sgid_index = gr.flow_label, gr.sgid_index
        self.hop_limit, self.traffic_class = gr.hop_limit, gr.traffic_class

    def java(self):
        return _do('Bad address', B.path, self.dgid, self.sgid_index, self.flow_label, self.hop_limit,
                   self.traffic_class, self.dlid, self.sl, self.src_path_bits, self.static_rate,
                   bool(self.is_global), self.port_num)

    @staticmethod
    def _of(j):
        gr = GlobalRoute(GID(B.gidText(j.destination())), j.flowLabel(), j.sourceGidIndex(), j.hopLimit(),
                         j.trafficClass())
        return AHAttr(j.destinationLid(), j.serviceLevel(), j.sourcePathBits(), j.staticRateCode(),
                      int(j.isGlobal()), j.port(), gr if j.isGlobal() else None)


class AH(PyverbsCM):
    what = 'AH'

    def __init__(self, pd, **kwargs):
        if len(kwargs) == 1:
            path = kwargs['attr'].java()
        else:
            path = _do('Failed to create AH', B.pathBack, pd.j.context(), kwargs['port_num'], kwargs['wc']._j,
                       kwargs['grh'])
        self.j = _do('Failed to create AH', pd.j.createAddressHandle, path)
        pd.add_ref(self)


# ---------------------------------------------------------------- work requests

class SGE(PyverbsCM):
    def __init__(self, addr, length, lkey):
        self.addr, self.length, self.lkey = addr, length, lkey

    def close(self):
        pass

    def read(self, length, offset):
        return read(self.addr, length, offset)


def _sges(sg):
    flat = []
    for s in sg or ():
        flat += [s.addr, s.length, s.lkey]
    return _Array.of(flat)


class RecvWR(PyverbsCM):
    def __init__(self, wr_id=0, num_sge=0, sg=None, next_wr=None):
        self.wr_id, self.num_sge, self.sg, self.next_wr = wr_id, num_sge, sg, next_wr

    def close(self):
        pass

    def chain(self):
        chain, wr = B.list(), self
        while wr is not None:
            chain.add(B.recv(wr.wr_id, _sges((wr.sg or [])[:wr.num_sge])))
            wr = wr.next_wr
        return chain


class SendWR(PyverbsCM):
    def __init__(self, wr_id=0, opcode=2, num_sge=0, imm_data=0, sg=None, send_flags=2, next_wr=None):
        if opcode not in (7, 8, 9) and (num_sge < 1 or sg is None):
            raise PyverbsUserError('A WR needs at least one SGE')
        self.wr_id, self.opcode, self.num_sge, self.imm_data = wr_id, opcode, num_sge, imm_data
        self.sg, self.send_flags, self.next_wr = sg, send_flags, next_wr
        self.ud = self.rdma = self.atomic = self.bind = self.srqn = None
        self.rkey = 0

    def close(self):
        pass

    def set_wr_ud(self, ah, rqpn, rqkey):
        self.ud = (ah, rqpn, rqkey)

    def set_wr_rdma(self, rkey, addr):
        self.rdma = (addr, rkey)

    def set_wr_atomic(self, rkey, addr, compare_add, swap=0):
        self.atomic = (addr, rkey, compare_add, swap)

    def set_bind_wr(self, mw, bind_info):
        self.rkey = inc_rkey(mw.rkey)
        self.bind = (mw, bind_info)

    def set_qp_type_xrc(self, remote_srqn):
        self.srqn = remote_srqn

    def chain(self):
        chain, wr = B.list(), self
        while wr is not None:
            op = int(wr.opcode)
            imm = wr.imm_data if op in (7, 9) else socket.ntohl(wr.imm_data)
            r = B.send(wr.wr_id, op, int(wr.send_flags), imm, _sges((wr.sg or [])[:wr.num_sge]))
            if op in (5, 6) and wr.atomic:
                B.atomic(r, *[_s64(x) for x in wr.atomic])
            elif wr.rdma:
                B.remote(r, *[_s64(x) for x in wr.rdma])
            if wr.ud:
                B.to(r, wr.ud[0].j if wr.ud[0] else None, wr.ud[1], wr.ud[2])
            if wr.srqn is not None:
                B.toSrq(r, wr.srqn)
            if op == 8 and wr.bind:
                B.bind(r, wr.bind[0].j, wr.rkey, wr.bind[1].java())
            chain.add(r)
            wr = wr.next_wr
        return chain


# ---------------------------------------------------------------- queue pairs

class QPCap(PyverbsObject):
    def __init__(self, max_send_wr=1, max_recv_wr=10, max_send_sge=1, max_recv_sge=1, max_inline_data=0):
        self.max_send_wr, self.max_recv_wr = max_send_wr, max_recv_wr
        self.max_send_sge, self.max_recv_sge, self.max_inline_data = max_send_sge, max_recv_sge, max_inline_data

    def list(self):
        return [self.max_send_wr, self.max_recv_wr, self.max_send_sge, self.max_recv_sge, self.max_inline_data]


class QPInitAttr(PyverbsObject):
    pd = xrcd = ind_table = None
    comp_mask = create_flags = max_tso_header = source_qpn = send_ops_flags = 0

    def __init__(self, qp_type=4, qp_context=None, scq=None, rcq=None, srq=None, cap=None, sq_sig_all=1):
        self.qp_type, self.send_cq, self.recv_cq, self.srq = qp_type, scq, rcq, srq
        self._cap = QPCap(0, 0, 0, 0, 0)
        self.cap = cap
        self.sq_sig_all = sq_sig_all

    @property
    def cap(self):
        return QPCap(*self._cap.list())

    @cap.setter
    def cap(self, val):
        if val is not None:
            self._cap = QPCap(*val.list())

    def java(self):
        return B.init(int(self.qp_type), self.send_cq.j if self.send_cq else None,
                      self.recv_cq.j if self.recv_cq else None, self.srq.j if self.srq else None,
                      *self._cap.list(), bool(self.sq_sig_all),
                      int(self.send_ops_flags) if self.comp_mask & 64 else 0, bool(int(self.create_flags) & 2))


for _name in ('max_send_wr', 'max_recv_wr', 'max_send_sge', 'max_recv_sge', 'max_inline_data'):
    setattr(QPInitAttr, _name, property(lambda self, n=_name: getattr(self._cap, n),
                                        lambda self, v, n=_name: setattr(self._cap, n, v)))


class QPInitAttrEx(QPInitAttr):
    def __init__(self, qp_type=4, qp_context=None, scq=None, rcq=None, srq=None, cap=None, sq_sig_all=0,
                 comp_mask=0, pd=None, xrcd=None, create_flags=0, max_tso_header=0, source_qpn=0, hash_conf=None,
                 ind_table=None, send_ops_flags=0):
        super().__init__(qp_type, qp_context, scq, rcq, srq, cap, sq_sig_all)
        self.comp_mask, self.pd, self.xrcd, self.create_flags = comp_mask, pd, xrcd, create_flags
        self.max_tso_header, self.source_qpn, self.ind_table = max_tso_header, source_qpn, ind_table
        self.send_ops_flags = send_ops_flags


_FIELDS = ['qp_state', 'cur_qp_state', 'en_sqd_async_notify', 'qp_access_flags', 'pkey_index', 'port_num', 'qkey',
           'ah_', 'path_mtu', 'timeout', 'retry_cnt', 'rnr_retry', 'rq_psn', 'max_rd_atomic', 'alt_ah_',
           'min_rnr_timer', 'sq_psn', 'max_dest_rd_atomic', 'path_mig_state', 'cap_', 'dest_qp_num', 'smac_',
           'asmac_', 'vlan_', 'avlan_', 'rate_limit']


class QPAttr(PyverbsObject):
    def __init__(self, qp_state=1, cur_qp_state=0, port_num=1, path_mtu=3):
        for name in _FIELDS:
            setattr(self, name, 0)
        self.qp_state, self.cur_qp_state, self.port_num, self.path_mtu = qp_state, cur_qp_state, port_num, path_mtu
        self.ah_attr = self.alt_ah_attr = None
        self.cap = QPCap(0, 0, 0, 0, 0)
        self.alt_port_num = self.alt_timeout = self.alt_pkey_index = self.sq_draining = 0


class ECE(PyverbsCM):
    def __init__(self, vendor_id=0, options=0, comp_mask=0):
        self.vendor_id, self.options, self.comp_mask = vendor_id, options, comp_mask

    def close(self):
        pass


class QPRateLimitAttr(PyverbsObject):
    def __init__(self, rate_limit=0, max_burst_sz=0, typical_pkt_sz=0, comp_mask=0):
        self.rate_limit = rate_limit


_RC_RTS = ['timeout', 'retry_cnt', 'rnr_retry', 'sq_psn', 'max_rd_atomic']
_RC_RTR = ['ah_', 'path_mtu', 'dest_qp_num', 'rq_psn', 'max_dest_rd_atomic', 'min_rnr_timer']
_C_INIT = ['pkey_index', 'port_num', 'qp_access_flags']
_STEPS = {2: (_C_INIT, _RC_RTR, _RC_RTS),
          3: (_C_INIT, ['ah_', 'path_mtu', 'dest_qp_num', 'rq_psn'], ['sq_psn']),
          4: (['pkey_index', 'port_num', 'qkey'], [], ['sq_psn']),
          8: (['port_num'], [], []),
          10: (_C_INIT, _RC_RTR, ['timeout', 'sq_psn']),
          9: (_C_INIT, ['ah_', 'path_mtu', 'dest_qp_num', 'rq_psn'], _RC_RTS)}


class QP(PyverbsCM):
    what = 'QP'

    def __init__(self, creator, init_attr, qp_attr=None):
        init = _do('Failed to create QP', init_attr.java)
        if isinstance(creator, Context):
            mask = int(init_attr.comp_mask)
            if mask & 4 and int(init_attr.create_flags) & ~2 or mask & (8 | 16 | 32):
                raise PyverbsRDMAError('Failed to create QP', 95)
            if mask & 2:
                self.j = _do('Failed to create QP', init_attr.xrcd.j.createQueuePair, init)
                init_attr.xrcd.add_ref(self)
            else:
                self.j = _do('Failed to create QP', init_attr.pd.j.createQueuePair, init)
                init_attr.pd.add_ref(self)
            creator.add_ref(self)
            # ibv_create_qp_ex writes what was given back into the attributes.
        else:
            self.j = _do('Failed to create QP', creator.j.createQueuePair, init)
            creator.add_ref(self)
        init_attr._cap = QPCap(*list(B.caps(self.j)))
        for other in (init_attr.send_cq, init_attr.recv_cq, init_attr.srq):
            if other is not None:
                other.add_ref(self)
        self.qp_type = e.ibv_qp_type(int(init_attr.qp_type))
        self._init_attr = init_attr
        self.ind_table = init_attr.ind_table
        if qp_attr is not None:
            {4: self.to_rts, 8: self.to_rts}.get(int(self.qp_type), self.to_init)(qp_attr)

    def _step(self, qp_attr, state, which, name):
        qp_attr.qp_state = state
        mask = 1
        for field in _STEPS[int(self.qp_type)][which]:
            mask |= 1 << _FIELDS.index(field)
        self._modify(qp_attr, mask, f'Failed to modify QP state to {name}')

    def to_init(self, qp_attr):
        self._step(qp_attr, e.IBV_QPS_INIT, 0, 'init')

    def to_rtr(self, qp_attr):
        if self.qp_state != e.IBV_QPS_INIT:
            self.to_init(qp_attr)
        self._step(qp_attr, e.IBV_QPS_RTR, 1, 'RTR')

    def to_rts(self, qp_attr):
        if self.qp_state != e.IBV_QPS_RTR:
            self.to_rtr(qp_attr)
        self._step(qp_attr, e.IBV_QPS_RTS, 2, 'RTS')

    def _modify(self, a, mask, message):
        values = [int(getattr(a, name) or 0) for name in _FIELDS]
        path = (a.ah_attr or AHAttr()).java() if mask & 1 << 7 else None
        alternate = a.alt_ah_attr.java() if mask & 1 << 14 else None
        _do(message, B.modify, self.j, int(mask), _Array.of(values), path, alternate, _Array.of(a.cap.list()))

    def modify(self, qp_attr, comp_mask):
        self._modify(qp_attr, int(comp_mask), 'Failed to modify QP')

    def modify_rate_limit(self, attr):
        a = QPAttr()
        a.rate_limit = attr.rate_limit
        self._modify(a, 1 << 25, 'Failed to modify QP rate limit')

    def query(self, attr_mask):
        got = _do('Failed to query QP', self.j.query)
        attr = _qp_attr(got)
        init = QPInitAttr(self.qp_type, None, self._init_attr.send_cq, self._init_attr.recv_cq,
                          self._init_attr.srq, QPCap(*list(B.caps(self.j))), self._init_attr.sq_sig_all)
        return attr, init

    def post_recv(self, wr, bad_wr=None):
        _post('Failed to post recv', B.postRecv, self.j, wr, bad_wr)

    def post_send(self, wr, bad_wr=None):
        _post('Failed to post send', B.postSend, self.j, wr, bad_wr)

    def set_ece(self, ece):
        if ece.vendor_id:
            _do('Failed to set ECE', B.ece, self.j, ece.vendor_id, ece.options)

    def query_ece(self):
        got = _do('Failed to query ECE', self.j.enhancedConnectionOptions)
        return ECE(_u32(got.vendorId()), _u32(got.options()))

    def bind_mw(self, mw, mw_bind):
        _do('Failed to Bind MW', B.bindMw, self.j, mw.j, mw_bind.wr_id, mw_bind.info.java(),
            int(mw_bind.send_flags))

    def query_data_in_order(self, op, flags=0):
        whole = _do('Failed to query data in order', B.inOrder, self.j, int(op))
        return (3 if flags & 1 else 1) if whole else 0

    @property
    def qp_state(self):
        return e.ibv_qp_state(B.state(self.j))

    @property
    def qp_num(self):
        return self.j.number()


def _qp_attr(got):
    v = B.values(got)
    attr = QPAttr()
    for i, name in enumerate(_FIELDS):
        setattr(attr, name, v[i])
    attr.ah_attr = None
    path = B.pathOf(got)
    if path is not None:
        attr.ah_attr = AHAttr._of(path)
    path = B.alternateOf(got)
    if path is not None:
        attr.alt_ah_attr = AHAttr._of(path)
    attr.cap = QPCap(*[v[26 + i] for i in range(5)])
    attr._mask = v[31]
    return attr


class DataBuffer(PyverbsCM):
    def __init__(self, addr, length):
        self.addr, self.length = addr, length


class QPEx(QP):
    def __init__(self, creator, init_attr, qp_attr=None):
        super().__init__(creator, init_attr, qp_attr)
        self.wr_id = self.wr_flags = 0
        self._batch = None

    def wr_start(self):
        # As in C, what goes wrong between start and complete is reported by complete.
        self._error = None
        self._batch = _do('Failed to start a batch', self.j.startBatch)

    def _try(self, call, *args):
        try:
            call(*args)
        except _Exception as ex:
            if self._error is None:
                self._error = ex
                _note('extended queue pair: ' + ex.toString())

    def _op(self, name, *args):
        self._try(B.batchBegin, self._batch, self.wr_id, int(self.wr_flags))
        self._set(name, *args)

    def _set(self, name, *args):
        self._try(B.batchAdd, self._batch, name, _Array.of([int(a) for a in args]))

    def wr_atomic_cmp_swp(self, rkey, remote_addr, compare, swap):
        self._op('cmp_swp', rkey, remote_addr, compare, swap)

    def wr_atomic_fetch_add(self, rkey, remote_addr, add):
        self._op('fetch_add', rkey, remote_addr, add)

    def wr_bind_mw(self, mw, rkey, bind_info):
        self._try(B.batchBegin, self._batch, self.wr_id, int(self.wr_flags))
        self._try(lambda: B.batchBind(self._batch, mw.j, rkey, bind_info.java()))

    def wr_local_inv(self, invalidate_rkey):
        self._op('local_inv', invalidate_rkey)

    def wr_atomic_write(self, rkey, remote_addr, atomic_wr):
        self._try(B.batchBegin, self._batch, self.wr_id, int(self.wr_flags))
        self._try(B.batchAtomicWrite, self._batch, rkey, remote_addr, _bytes(atomic_wr)[:8].decode('latin-1'))

    def wr_rdma_read(self, rkey, remote_addr):
        self._op('read', rkey, remote_addr)

    def wr_rdma_write(self, rkey, remote_addr):
        self._op('write', rkey, remote_addr)

    def wr_rdma_write_imm(self, rkey, remote_addr, data):
        self._op('write_imm', rkey, remote_addr, data)

    def wr_send(self):
        self._op('send')

    def wr_send_imm(self, data):
        self._op('send_imm', data)

    def wr_send_inv(self, invalidate_rkey):
        self._op('send_inv', invalidate_rkey)

    def wr_set_ud_addr(self, ah, remote_qpn, remote_rkey):
        self._try(B.batchTo, self._batch, ah.j, remote_qpn, remote_rkey)

    def wr_set_xrc_srqn(self, remote_srqn):
        self._set('xrc', remote_srqn)

    def wr_set_inline_data(self, addr, length):
        self._set('inline', addr, length)

    def wr_set_inline_data_list(self, num_buf, buf_list):
        for buffer in buf_list[:num_buf]:
            self.wr_set_inline_data(buffer.addr, buffer.length)

    def wr_set_sge(self, sge):
        self._set('sge', sge.lkey, sge.addr, sge.length)

    def wr_set_sge_list(self, num_sge, sg_list):
        for i in range(num_sge):
            self.wr_set_sge(sg_list[i])

    def wr_complete(self):
        batch, self._batch = self._batch, None
        try:
            if self._error is not None:
                code = self._error.errorNumber() if isinstance(self._error, _RdmaException) else 22
                raise PyverbsRDMAError('ibv_wr_complete failed.', code)
            _do('ibv_wr_complete failed.', batch.post)
        finally:
            batch.close()

    def wr_abort(self):
        self._batch.close()


# ---------------------------------------------------------------- shared receive queues

class SrqAttr(PyverbsObject):
    def __init__(self, max_wr=100, max_sge=1, srq_limit=0):
        self.max_wr, self.max_sge, self.srq_limit = max_wr, max_sge, srq_limit


class SrqInitAttr(PyverbsObject):
    def __init__(self, attr=None):
        attr = attr or SrqAttr(0, 0, 0)
        self.max_wr, self.max_sge, self.srq_limit = attr.max_wr, attr.max_sge, attr.srq_limit


class SrqInitAttrEx(PyverbsObject):
    def __init__(self, max_wr=100, max_sge=1, srq_limit=0):
        self.max_wr, self.max_sge, self.srq_limit = max_wr, max_sge, srq_limit
        self.comp_mask = self.srq_type = self.max_num_tags = self.max_ops = 0
        self.pd = self.xrcd = self.cq = None


class OpsWr(PyverbsCM):
    def __init__(self, *args, **kwargs):
        raise PyverbsRDMAError('Tag matching', 95)


class SRQ(PyverbsCM):
    what = 'SRQ'

    def __init__(self, creator, attr):
        if isinstance(creator, PD):
            self.j = _do('Failed to create SRQ', B.srq, creator.j, 0, attr.max_wr, attr.max_sge, attr.srq_limit,
                         None, None)
            creator.add_ref(self)
            return
        mask = int(attr.comp_mask)
        self.j = _do('Failed to create SRQ', B.srq, attr.pd.j, int(attr.srq_type) if mask & 1 else 0, attr.max_wr,
                     attr.max_sge, attr.srq_limit, attr.xrcd.j if mask & 4 and attr.xrcd else None,
                     attr.cq.j if mask & 8 and attr.cq else None)
        for other in (attr.pd, attr.xrcd, attr.cq):
            if other is not None:
                other.add_ref(self)

    def get_srq_num(self):
        return _do('Failed to retrieve SRQ number', self.j.number)

    def modify(self, attr, comp_mask):
        if comp_mask & 1:
            _do('Failed to modify SRQ', self.j.resize, attr.max_wr)
        if comp_mask & 2:
            _do('Failed to modify SRQ', self.j.arm, attr.srq_limit)

    def query(self):
        got = _do('Failed to query SRQ', self.j.query)
        return SrqAttr(got.maxRequests(), got.maxElements(), got.limit())

    def post_recv(self, wr, bad_wr=None):
        _post('Failed to post receive to SRQ.', B.postSrq, self.j, wr, bad_wr)


class XRCDInitAttr(PyverbsObject):
    def __init__(self, comp_mask, oflags, fd):
        self.comp_mask, self.oflags, self.fd = comp_mask, oflags, fd


class XRCD(PyverbsCM):
    what = 'XRCD'

    def __init__(self, context, init_attr):
        path = None
        if init_attr.comp_mask & 1 and init_attr.fd >= 0:
            path = _PATHS[init_attr.fd]
        self.j = _do('Failed to allocate XRCD', B.xrcd, context.j, path, bool(init_attr.oflags & os.O_CREAT))
        self.ctx = context
        context.add_ref(self)


_PATHS = {}


class _Unsupported(PyverbsCM):
    def __init__(self, *args, **kwargs):
        raise PyverbsRDMAError(type(self).__name__ + ' has no counterpart in the shim', 95)


for _name in ('WQInitAttr', 'WQAttr', 'WQ', 'RwqIndTableInitAttr', 'RwqIndTable', 'RxHashConf', 'FlowAttr', 'Flow',
              'EthSpec', 'Ipv4ExtSpec', 'Ipv6Spec', 'TcpUdpSpec'):
    globals()[_name] = type(_name, (_Unsupported,), {})


# ---------------------------------------------------------------- connection manager

class ConnParam(PyverbsObject):
    def __init__(self, resources=1, depth=1, flow_control=0, retry=5, rnr_retry=5, srq=0, qp_num=0, data_len=0):
        self.resources, self.depth, self.flow_control, self.retry = resources, depth, flow_control, retry
        self.rnr_retry, self.srq, self.qpn, self.private_data = rnr_retry, srq, qp_num, b''
        self.data_len = data_len

    def set_private_data(self, data):
        self.private_data = bytes(data)[:self.data_len]

    def java(self):
        return B.parameters(self.resources, self.depth, bool(self.flow_control), self.retry, self.rnr_retry,
                            bool(self.srq), self.qpn, self.private_data.decode('latin-1'))


class JoinMCAttrEx(PyverbsObject):
    def __init__(self, addr, comp_mask=0, join_flags=0):
        self.addr, self.comp_mask, self.join_flags = addr, comp_mask, join_flags


class UDParam(PyverbsObject):
    def __init__(self, cm_event):
        d = cm_event.j.datagram()
        self.qp_num, self.qkey = B.udQpn(d), B.udQkey(d)
        self.ah_attr = AHAttr._of(d.path())


class AddrInfo(PyverbsObject):
    def __init__(self, src=None, dst=None, src_service=None, dst_service=None, port_space=0, flags=0):
        self.info, self.flags = None, flags
        if src or dst or src_service or dst_service:
            self.get_addrinfo(src, dst, src_service, dst_service, port_space, flags)

    def get_addrinfo(self, src=None, dst=None, src_service=None, dst_service=None, port_space=0, flags=0):
        text = lambda t: t.decode() if isinstance(t, bytes) else t
        self.flags = flags
        message = 'Failed to get Address Info'
        if flags & ce.RAI_PASSIVE:
            found = _do(message, B.addressInfo, text(src), text(src_service), int(port_space), flags, None, 0)
        else:
            port = int(src_service) if src_service else 0
            if dst is None and dst_service is None and src is not None:
                # C calls rdma_getaddrinfo with a source hint only.
                found = _do(message, B.addressInfo, text(src), text(src_service), int(port_space), 1, None, 0)
            else:
                found = _do(message, B.addressInfo, text(dst), text(dst_service), int(port_space), flags,
                            text(src), port)
        self.info = list(found)[0]

    def close(self):
        self.info = None


class CMEventChannel(PyverbsObject):
    def __init__(self):
        self.j = _EventChannel.create()

    def close(self):
        pass


def _patiently(call, *args):
    """A wait that the end of the test's player can interrupt."""
    import multiprocessing
    for _ in range(600):
        got = call(*args, 100)
        if got is not None:
            return got
        multiprocessing.check_terminated()
    return None


class CMEvent(PyverbsObject):
    def __init__(self, channel):
        self.j = _do('Failed to create CMEvent', _patiently, B.event, channel.j)
        if self.j is None:
            raise PyverbsRDMAError('No event within the shim\'s patience', 110)
        self.event_type = e_type(B.eventType(self.j))

    def ack_cm_event(self):
        if self.j is not None:
            self.j.acknowledge()
            self.j = None

    close = ack_cm_event

    def event_str(self):
        return self.j.type().text() + ' status ' + str(self.j.status()) if self.j is not None else ''

    @property
    def private_data(self):
        return B.privateData(self.j).encode('latin-1')


def e_type(number):
    return ce.rdma_cm_event_type(number) if number < 18 else number


_ids = threading.local()


def _remember(cmid):
    """A process of the tests closes its ids by ending; here its thread does, in close_ids."""
    if not hasattr(_ids, 'open'):
        _ids.open = []
    _ids.open.append(cmid)


def close_ids():
    for cmid in reversed(getattr(_ids, 'open', [])):
        try:
            cmid.close()
        except Exception as ex:
            _note(f'close of an id: {ex}')
    _ids.open = []


class CMID(PyverbsCM):
    what = 'CMID'

    def close(self):
        if self.j is not None:
            for other in (self.pd, self.ctx):
                if other is not None:
                    other._close_children()
            super().close()

    def __init__(self, creator=None, qp_init_attr=None, pd=None, port_space=ce.RDMA_PS_TCP, listen_id=None):
        self.pd = self.ctx = self.event_channel = None
        _remember(self)
        if creator is None:
            return
        message = 'Failed to create CM ID'
        if isinstance(creator, AddrInfo):
            self.pd = pd
            init = _do(message, qp_init_attr.java) if qp_init_attr is not None else None
            self.j = _do(message, B.endpoint, creator.info, pd.j if pd else None, init)
            if not creator.info.isPassive():
                self.ctx = Context(cmid=self)
                self.pd = self.pd or PD(self)
        elif isinstance(creator, CMEventChannel):
            self.event_channel = creator
            self.j = _do(message, B.create, creator.j, int(port_space))
        elif isinstance(creator, CMEvent):
            self.j = creator.j.id()
            self.event_channel = listen_id.event_channel
            self.ctx, self.pd = listen_id.ctx, listen_id.pd

    @property
    def context(self):
        return self.ctx

    @property
    def dev_name(self):
        return self.j.context().device().name()

    @property
    def port_num(self):
        return self.j.devicePort()

    @property
    def qpn(self):
        return self.j.queuePair().number()

    def _fill(self):
        if self.ctx is None:
            self.ctx = Context(cmid=self)
        if self.pd is None:
            self.pd = PD(self)

    def get_request(self):
        child = CMID()
        child.j = _do('Failed to get request, no connection established', _patiently, B.request, self.j)
        if child.j is None:
            raise PyverbsRDMAError('No request within the shim\'s patience', 110)
        child._fill()
        return child

    def bind_addr(self, lai):
        _do('Failed to Bind ID', self.j.bindAddress, lai.info.source())
        self._fill()

    def resolve_addr(self, rai, timeout_ms=2000):
        _do('Failed to Resolve Address', B.resolveAddress, self.j, rai.info.source(), rai.info.destination(),
            timeout_ms)

    def join_multicast(self, addr=None, mc_attr=None, context=0):
        if not addr and not mc_attr:
            raise PyverbsUserError('Join to multicast must have AddrInfo or JoinMCAttrEx arguments')
        group = (mc_attr.addr if mc_attr else addr).info
        _do('Failed to Join multicast', B.join, self.j, group.source(),
            int(mc_attr.join_flags) if mc_attr else -1)

    def leave_multicast(self, addr):
        _do('Failed to leave multicast', B.leave, self.j, addr.info.source())

    def resolve_route(self, timeout_ms=2000):
        _do('Failed to Resolve Route', B.resolveRoute, self.j, timeout_ms)
        self._fill()

    def listen(self, backlog=0):
        _do('Listen Failed', self.j.listen, backlog)

    def connect(self, param=None):
        java_param = param.java() if param else java.type('io.rdma4j.connection.ConnectionParameters')()
        _do('Failed to Connect', self.j.connect, java_param)

    def disconnect(self):
        _do('Failed to Disconnect', self.j.disconnect)

    def accept(self, param=None):
        if param is None:
            _do('Failed to Accept Connection', self.j.accept)
        else:
            _do('Failed to Accept Connection', self.j.accept, param.java())

    def establish(self):
        _do('Failed to Complete an active connection request', self.j.establish)

    def set_local_ece(self, ece):
        # rdma4j's ids have none to exchange, as no software device has any.
        if ece.vendor_id or ece.options:
            raise PyverbsRDMAError('Failed to set local ECE', 95)

    def get_remote_ece(self):
        return ECE()

    def create_qp(self, qp_init):
        _do('Failed to Create QP', B.idQueuePair, self.j, self.pd.j if self.pd else None,
            _do('Failed to Create QP', qp_init.java))

    def query_qp(self, attr_mask):
        return _qp_attr(_do('Failed to query QP', self.j.queuePair().query)), QPInitAttr()

    def init_qp_attr(self, qp_state):
        attr = _qp_attr(_do('Failed to get QP attributes', B.initQp, self.j, int(qp_state)))
        return attr, attr._mask

    def reg_msgs(self, size):
        return _IdMR(self, size, 'messages')

    def reg_read(self, size=0):
        return _IdMR(self, size, 'read')

    def reg_write(self, size=0):
        return _IdMR(self, size, 'write')

    def post_recv(self, mr, length=None):
        _do('Failed to Post Receive', B.idReceive, self.j, mr.j, length or mr.length)

    def post_send(self, mr, flags=2, length=None):
        _do('Failed to Post Send', B.idSend, self.j, mr.j, length or mr.length, int(flags))

    def post_read(self, mr, length, remote_addr, rkey, flags=0):
        _do('Failed to Post Read', B.idRead, self.j, mr.j, length, _s64(remote_addr), rkey, int(flags))

    def post_write(self, mr, length, remote_addr, rkey, flags=0):
        _do('Failed to Post Write', B.idWrite, self.j, mr.j, length, _s64(remote_addr), rkey, int(flags))

    def post_ud_send(self, mr, ah, rqpn=0, flags=2, length=None):
        _do('Failed to Post Send', B.idDatagram, self.j, mr.j, length or mr.length, ah.j, rqpn, int(flags))

    def _completion(self, call):
        got = _do('Failed to retrieve completion', _patiently, call, self.j)
        if got is None:
            raise PyverbsRDMAError("No completion within the shim's patience", 110)
        wc = WC._of(B.numbers(got), 0)
        wc._j = got
        return wc

    def get_recv_comp(self):
        return self._completion(B.received)

    def get_send_comp(self):
        return self._completion(B.sent)

    def set_option(self, level, optname, optval, optlen):
        _do('Failed to set option', self.j.ackTimeoutExponent, optval)

    def reject(self, private_data=None):
        _do('Failed to Reject Connection', B.reject, self.j, (private_data or b'').decode('latin-1'))


class _IdMR(MR):
    """A region that an id registered, in memory of its own."""

    def __init__(self, cmid, length, kind):
        self._own, self.buf, self.pd = True, B.alloc(int(length), PAGE), cmid.pd
        self.j = _do('Failed to register MR', B.idRegister, cmid.j, self.buf, int(length), kind)
        cmid.add_ref(self)
