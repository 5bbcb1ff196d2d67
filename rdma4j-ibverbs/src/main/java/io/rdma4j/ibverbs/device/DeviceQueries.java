// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.ibverbs.device;

import io.rdma4j.device.ReportedGid;
import io.rdma4j.ibverbs.abi.ContextOperation;
import io.rdma4j.ibverbs.abi.Layout;
import io.rdma4j.ibverbs.abi.Library;
import io.rdma4j.ibverbs.abi.Native;
import io.rdma4j.ibverbs.abi.NativeFunction;
import io.rdma4j.ibverbs.abi.Outcome;
import io.rdma4j.ibverbs.abi.VerbsSymbol;
import io.rdma4j.ibverbs.values.DeviceValues;
import io.rdma4j.ibverbs.values.Paths;
import io.rdma4j.verbs.AccessFlag;
import io.rdma4j.verbs.AddressHandle;
import io.rdma4j.verbs.AddressHandleAttributes;
import io.rdma4j.verbs.AtomicCapability;
import io.rdma4j.verbs.DeviceAttributes;
import io.rdma4j.verbs.DeviceCapability;
import io.rdma4j.verbs.Errno;
import io.rdma4j.verbs.EthernetAddress;
import io.rdma4j.verbs.Gid;
import io.rdma4j.verbs.GidEntry;
import io.rdma4j.verbs.GidType;
import io.rdma4j.verbs.LinkLayer;
import io.rdma4j.verbs.PortAttributes;
import io.rdma4j.verbs.QueuePairType;
import io.rdma4j.verbs.RdmaException;
import io.rdma4j.verbs.SendOpcode;
import io.rdma4j.verbs.TransportType;
import io.rdma4j.verbs.WorkCompletion;
import io.rdma4j.verbs.WorkCompletionFlag;

import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;

/** Queries of an open device, its ports and their tables. */
public final class DeviceQueries {
    /** Bits of {@code device_cap_flags_ex}. */
    private static final long FLUSH_GLOBAL = 1L << 38;
    private static final long FLUSH_PERSISTENT = 1L << 39;
    private static final long ATOMIC_WRITE = 1L << 40;
    private static final String QUERY_GID = "query GID";
    /** Of the global route, in front of a datagram. Within a subnet of InfiniBand LIDs do. */
    private static final int HEADER_LENGTH = AddressHandle.GLOBAL_ROUTE_LENGTH;
    /** More entries than a port has; those of {@code rdma_rxe} have 1024. */
    private static final int LONGEST_TABLE = 1 << 13;

    private final ContextServices services;
    private final Library<VerbsSymbol> verbs;
    private final long pointer;
    private final int completionVectors;
    private final GidFiles gidFiles;

    /** @param gidFiles the kernel's information on GIDs, for libraries that do not provide it */
    DeviceQueries(ContextServices services, int completionVectors, GidFiles gidFiles) {
        this.services = services;
        this.gidFiles = gidFiles;
        this.completionVectors = completionVectors;
        verbs = services.verbs();
        pointer = services.pointer();
    }

    public DeviceAttributes device() throws RdmaException {
        return services.inCall(arena -> {
            MemorySegment attributes = arena.allocate(Layout.DeviceAttrEx.SIZE + Layout.SLACK, 8);
            if (!readExtended(attributes)) {
                attributes.fill((byte) 0);
            }
            // Every driver answers this, and it stands at the front of the other.
            verbs.get(VerbsSymbol.QUERY_DEVICE).call(pointer, attributes.address())
                    .check("query device", "the device cannot be asked");
            return DeviceValues.device(attributes, completionVectors);
        });
    }

    /** {@return whether the driver supports the query} */
    private boolean readExtended(MemorySegment attributes) throws RdmaException {
        NativeFunction function = services.functions().find(ContextOperation.QUERY_DEVICE_EX);
        return function != null && function
                .call(pointer, 0, attributes.address(), Layout.DeviceAttrEx.SIZE).value() == 0;
    }

    public long clock() throws RdmaException {
        String operation = "query clock";
        NativeFunction function = services.functions().require(ContextOperation.QUERY_RT_VALUES,
                operation);
        return services.inCall(arena -> {
            MemorySegment values = arena.allocate(Layout.Values.SIZE + Layout.SLACK, 8);
            Native.putInt(values, Layout.Values.COMP_MASK, 1);
            function.call(pointer, values.address()).check(operation, "the device has no clock");
            return Native.getLong(values, Layout.Values.NANOSECONDS);
        });
    }

    public PortAttributes port(int port) throws RdmaException {
        String operation = "query port";
        return services.inCall(arena -> {
            requirePort(operation, port);
            MemorySegment attributes = arena.allocate(Layout.PortAttr.SIZE + Layout.SLACK, 8);
            NativeFunction function = services.functions().find(ContextOperation.QUERY_PORT);
            Outcome outcome = function == null
                    ? verbs.get(VerbsSymbol.QUERY_PORT).call(pointer, port,
                            attributes.address())
                    : function.call(pointer, port, attributes.address(), Layout.PortAttr.SIZE);
            outcome.check(operation, "there is no port " + port);
            return DeviceValues.port(attributes);
        });
    }

    private static void requirePort(String operation, int port) throws RdmaException {
        if (port < 1 || port > 0xff) {
            throw new RdmaException(Errno.EINVAL, operation,
                    "ports are numbered from 1, there is no port " + port);
        }
    }

    public long portSpeedMbps(int port) throws RdmaException {
        PortAttributes attributes = port(port);
        return 100L * width(attributes.activeWidthCode()) * speed(attributes.activeSpeedCode());
    }

    private static int width(int code) {
        return switch (code) {
            case 1 -> 1;
            case 2 -> 4;
            case 4 -> 8;
            case 8 -> 12;
            case 16 -> 2;
            default -> 0;
        };
    }

    /** {@return the speed of a lane in units of 100 Mb/s} IBTA 14.2.5.6. */
    private static int speed(int code) {
        return switch (code) {
            case 1 -> 25;
            case 2 -> 50;
            case 4, 8 -> 100;
            case 16 -> 140;
            case 32 -> 250;
            case 64 -> 500;
            case 128 -> 1000;
            default -> 0;
        };
    }

    public Gid gid(int port, int index) throws RdmaException {
        return services.inCall(arena -> {
            requirePort(QUERY_GID, port);
            MemorySegment gid = arena.allocate(2 * Long.BYTES, 8);
            verbs.get(VerbsSymbol.QUERY_GID).call(pointer, port, index, gid.address())
                    .check(QUERY_GID, "port " + port + " has no entry " + index);
            return Paths.readGid(gid, 0);
        });
    }

    public GidEntry gidEntry(int port, int index) throws RdmaException {
        Gid gid = gid(port, index);
        if (gid.isZero()) {
            throw new RdmaException(Errno.ENODATA, QUERY_GID,
                    "entry " + index + " of the table is empty");
        }
        NativeFunction function = verbs.find(VerbsSymbol.QUERY_GID_EX);
        if (function == null) {
            return gidFiles.entry(gid, port, index, typeWithoutUdp(port));
        }
        return services.inCall(arena -> {
            MemorySegment entry = arena.allocate(Layout.GidEntry.SIZE + Layout.SLACK, 8);
            function.call(pointer, port, index, entry.address(), 0, Layout.GidEntry.SIZE)
                    .check(QUERY_GID, "port " + port + " has no entry " + index);
            return entry(entry, 0);
        });
    }

    private static GidEntry entry(MemorySegment source, long offset) {
        return new ReportedGid(Paths.readGid(source, offset + Layout.GidEntry.GID),
                Native.getInt(source, offset + Layout.GidEntry.GID_INDEX),
                Native.getInt(source, offset + Layout.GidEntry.PORT_NUM),
                Native.getInt(source, offset + Layout.GidEntry.GID_TYPE),
                Native.getInt(source, offset + Layout.GidEntry.NDEV_IFINDEX));
    }

    public List<GidEntry> gidTable() throws RdmaException {
        NativeFunction function = verbs.find(VerbsSymbol.QUERY_GID_TABLE);
        if (function == null) {
            return gidTableOfFiles();
        }
        long room = gidRoom();
        return services.inCall(arena -> {
            MemorySegment table = arena
                    .allocate((room + 1) * Layout.GidEntry.SIZE + Layout.SLACK, 8);
            Outcome outcome = function.call(pointer, table.address(), room, 0,
                    Layout.GidEntry.SIZE);
            if (outcome.value() < 0 || outcome.value() > room) {
                throw new RdmaException(Errno.EIO, QUERY_GID,
                        "the kernel does not give the table of " + services.device().name());
            }
            List<GidEntry> entries = new ArrayList<>();
            for (int i = 0; i < outcome.value(); i++) {
                entries.add(entry(table, i * Layout.GidEntry.SIZE));
            }
            return entries;
        });
    }

    /** {@return how many entries the tables of all ports have} */
    private long gidRoom() throws RdmaException {
        int ports = device().physicalPortCount();
        long room = 0;
        for (int port = 1; port <= ports; port++) {
            room += Math.clamp(port(port).gidTableLength(), 0, LONGEST_TABLE);
        }
        return room;
    }

    private List<GidEntry> gidTableOfFiles() throws RdmaException {
        List<GidEntry> entries = new ArrayList<>();
        int ports = device().physicalPortCount();
        for (int port = 1; port <= ports; port++) {
            GidType otherType = typeWithoutUdp(port);
            int length = port(port).gidTableLength();
            for (int index = 0; index < length; index++) {
                Gid gid = gid(port, index);
                if (!gid.isZero()) {
                    entries.add(gidFiles.entry(gid, port, index, otherType));
                }
            }
        }
        return entries;
    }

    /**
     * {@return the type of a port's GIDs that are not RoCEv2} GIDs of an RNIC have the type of InfiniBand.
     */
    private GidType typeWithoutUdp(int port) throws RdmaException {
        return port(port).linkLayer() == LinkLayer.ETHERNET
                && services.device().transport() == TransportType.INFINIBAND
                        ? GidType.ROCE_V1
                        : GidType.INFINIBAND;
    }

    public int pkey(int port, int index) throws RdmaException {
        String operation = "query P_Key";
        int entries = partitionKeys(operation, port);
        if (index < 0 || index >= entries) {
            throw new RdmaException(Errno.EINVAL, operation, "the index must be from 0 to "
                    + (entries - 1) + ", not " + index);
        }
        return services.inCall(arena -> {
            requirePort(operation, port);
            MemorySegment key = arena.allocate(Short.BYTES, Short.BYTES);
            verbs.get(VerbsSymbol.QUERY_PKEY).call(pointer, port, index, key.address())
                    .check(operation, "port " + port + " has no entry " + index);
            return Short.toUnsignedInt(Short.reverseBytes((short) Native.getShort(key, 0)));
        });
    }

    private int partitionKeys(String operation, int port) throws RdmaException {
        int entries = port(port).pkeyTableLength();
        if (entries == 0) {
            throw RdmaException.unsupported(operation, "this device has no partitions");
        }
        return entries;
    }

    public int pkeyIndex(int port, int pkey) throws RdmaException {
        int entries = partitionKeys("find P_Key", port);
        for (int index = 0; index < entries; index++) {
            if (pkey(port, index) == pkey) {
                return index;
            }
        }
        throw new RdmaException(Errno.ENOENT, "find P_Key",
                String.format("0x%04x is not in the table", pkey));
    }

    public AddressHandleAttributes pathBack(int port, WorkCompletion completion,
            MemorySegment header) throws RdmaException {
        String operation = "find path back";
        services.checkOpen();
        boolean isGlobal = completion.has(WorkCompletionFlag.GRH);
        if (isGlobal ? header.byteSize() < HEADER_LENGTH
                : port(port).linkLayer() != LinkLayer.INFINIBAND) {
            throw new RdmaException(Errno.EINVAL, operation, "the completion is not that of a"
                    + " datagram with a global route header, or the memory has not its 40 bytes");
        }
        return services.inCall(arena -> {
            requirePort(operation, port);
            MemorySegment source = arena.allocate(Layout.WorkCompletion.SIZE, 8);
            Native.putInt(source, Layout.WorkCompletion.WC_FLAGS, completion.flags());
            Native.putInt(source, Layout.WorkCompletion.SRC_QP, completion.sourceQueuePairNumber());
            Native.putShort(source, Layout.WorkCompletion.SLID, completion.sourceLid());
            Native.putByte(source, Layout.WorkCompletion.SL, completion.serviceLevel());
            Native.putByte(source, Layout.WorkCompletion.DLID_PATH_BITS,
                    completion.destinationPathBits());
            MemorySegment route = arena.allocate(HEADER_LENGTH, 8);
            if (isGlobal) {
                MemorySegment.copy(header, 0, route, 0, HEADER_LENGTH);
            }
            MemorySegment path = arena.allocate(Layout.AddressHandleAttr.SIZE + Layout.SLACK, 8);
            verbs.get(VerbsSymbol.INIT_AH_FROM_WC)
                    .call(pointer, port, source.address(), route.address(), path.address())
                    .check(operation, "the header is not of a datagram to this device");
            return Paths.read(path, 0);
        });
    }

    public EthernetAddress resolveEthernet(AddressHandleAttributes path) throws RdmaException {
        String operation = "resolve Ethernet address";
        return services.inCall(arena -> {
            MemorySegment attributes = arena
                    .allocate(Layout.AddressHandleAttr.SIZE + Layout.SLACK, 8);
            Paths.write(attributes, 0, path);
            MemorySegment mac = arena.allocate(8, 8);
            MemorySegment vlan = arena.allocate(Short.BYTES, Short.BYTES);
            verbs.get(VerbsSymbol.RESOLVE_ETH_L2_FROM_GID)
                    .call(pointer, attributes.address(), mac.address(), vlan.address())
                    .check(operation, "the system does not know the neighbour");
            return new EthernetAddress(Native.bigEndian(Native.getLong(mac, 0)) >>> 16,
                    Native.getShort(vlan, 0));
        });
    }

    /** {@return the longest message that queue pairs of a type send by a port, as it is now} */
    public long longestMessage(QueuePairType type, int number) throws RdmaException {
        PortAttributes port = port(number);
        return type == QueuePairType.UD ? port.activeMtu().bytes()
                : port.maxMessageSize() == 0 ? Integer.MAX_VALUE : port.maxMessageSize();
    }

    /** @throws RdmaException EOPNOTSUPP for a device without extended reliable connections */
    public void requireXrc(String operation) throws RdmaException {
        if (!device().capabilities().contains(DeviceCapability.XRC)) {
            throw RdmaException.unsupported(operation,
                    services.device().name() + " has no extended reliable connections (XRC)");
        }
    }

    /** {@return whether the device has atomics, of 8 bytes} */
    public boolean hasAtomics() throws RdmaException {
        return device().atomicCapability() != AtomicCapability.NONE;
    }

    /** {@return whether queue pairs of a type fill in check sums of IP} */
    public boolean hasChecksums(QueuePairType type) throws RdmaException {
        Set<DeviceCapability> capabilities = device().capabilities();
        return switch (type) {
            case RAW_PACKET -> capabilities.contains(DeviceCapability.RAW_IP_CSUM);
            case UD -> capabilities.contains(DeviceCapability.UD_IP_CSUM);
            case RC -> capabilities.contains(DeviceCapability.RC_IP_CSUM);
            case UC, XRC_SEND, XRC_RECEIVE, DRIVER -> false;
        };
    }

    /** @throws RdmaException EOPNOTSUPP for a right to FLUSH that the device does not have */
    public void requireFlushing(String operation, Set<AccessFlag> access) throws RdmaException {
        long wanted = (access.contains(AccessFlag.FLUSH_GLOBAL) ? FLUSH_GLOBAL : 0)
                | (access.contains(AccessFlag.FLUSH_PERSISTENT) ? FLUSH_PERSISTENT : 0);
        if (wanted != 0 && (capabilities() & wanted) != wanted) {
            throw RdmaException.unsupported(operation, "this device has no FLUSH");
        }
    }

    /** {@return whether the device has an operation that only extended queue pairs have} */
    public boolean has(SendOpcode extended) throws RdmaException {
        long flags = switch (extended) {
            case FLUSH -> FLUSH_GLOBAL | FLUSH_PERSISTENT;
            case ATOMIC_WRITE -> ATOMIC_WRITE;
            default -> 0;
        };
        return (capabilities() & flags) != 0;
    }

    /** {@return {@code device_cap_flags_ex}, 0 if the driver does not provide them} */
    private long capabilities() throws RdmaException {
        return services.inCall(arena -> {
            MemorySegment attributes = arena.allocate(Layout.DeviceAttrEx.SIZE + Layout.SLACK, 8);
            return readExtended(attributes)
                    ? Native.getLong(attributes, Layout.DeviceAttrEx.CAP_FLAGS_EX)
                    : 0L;
        });
    }
}
