// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.ibverbs.values;

import io.rdma4j.ibverbs.abi.Layout.AddressHandleAttr;
import io.rdma4j.ibverbs.abi.Native;
import io.rdma4j.verbs.AddressHandleAttributes;
import io.rdma4j.verbs.Gid;

import java.lang.foreign.MemorySegment;

/** Paths in {@code struct ibv_ah_attr}. */
public final class Paths {
    private Paths() {}

    /** Writes a path at an offset, over whatever was there. */
    public static void write(MemorySegment target, long offset, AddressHandleAttributes path) {
        target.asSlice(offset, AddressHandleAttr.SIZE).fill((byte) 0);
        writeGid(target, offset + AddressHandleAttr.DGID, path.destination());
        Native.putInt(target, offset + AddressHandleAttr.FLOW_LABEL, path.flowLabel());
        Native.putByte(target, offset + AddressHandleAttr.SGID_INDEX, path.sourceGidIndex());
        Native.putByte(target, offset + AddressHandleAttr.HOP_LIMIT, path.hopLimit());
        Native.putByte(target, offset + AddressHandleAttr.TRAFFIC_CLASS, path.trafficClass());
        Native.putShort(target, offset + AddressHandleAttr.DLID, path.destinationLid());
        Native.putByte(target, offset + AddressHandleAttr.SL, path.serviceLevel());
        Native.putByte(target, offset + AddressHandleAttr.SRC_PATH_BITS, path.sourcePathBits());
        Native.putByte(target, offset + AddressHandleAttr.STATIC_RATE, path.staticRateCode());
        Native.putByte(target, offset + AddressHandleAttr.IS_GLOBAL, path.isGlobal() ? 1 : 0);
        Native.putByte(target, offset + AddressHandleAttr.PORT_NUM, path.port());
    }

    /** {@return the path at an offset; of fields with fewer bits than their type, those bits alone} */
    public static AddressHandleAttributes read(MemorySegment source, long offset) {
        return new AddressHandleAttributes(readGid(source, offset + AddressHandleAttr.DGID),
                Native.getByte(source, offset + AddressHandleAttr.SGID_INDEX),
                Native.getInt(source, offset + AddressHandleAttr.FLOW_LABEL) & 0xf_ffff,
                Native.getByte(source, offset + AddressHandleAttr.HOP_LIMIT),
                Native.getByte(source, offset + AddressHandleAttr.TRAFFIC_CLASS),
                Native.getShort(source, offset + AddressHandleAttr.DLID),
                Native.getByte(source, offset + AddressHandleAttr.SL) & 0xf,
                Native.getByte(source, offset + AddressHandleAttr.SRC_PATH_BITS) & 0x7f,
                Native.getByte(source, offset + AddressHandleAttr.STATIC_RATE),
                Native.getByte(source, offset + AddressHandleAttr.IS_GLOBAL) != 0,
                Native.getByte(source, offset + AddressHandleAttr.PORT_NUM));
    }

    /** Writes the 16 bytes of a GID. */
    public static void writeGid(MemorySegment target, long offset, Gid gid) {
        Native.putLong(target, offset, Native.bigEndian(gid.high()));
        Native.putLong(target, offset + Long.BYTES, Native.bigEndian(gid.low()));
    }

    /** {@return the GID of 16 bytes} */
    public static Gid readGid(MemorySegment source, long offset) {
        return new Gid(Native.bigEndian(Native.getLong(source, offset)),
                Native.bigEndian(Native.getLong(source, offset + Long.BYTES)));
    }
}
