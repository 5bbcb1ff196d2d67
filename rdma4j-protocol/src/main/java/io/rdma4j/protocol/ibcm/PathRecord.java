// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.protocol.ibcm;

import io.rdma4j.verbs.Gid;

import java.nio.ByteBuffer;

/**
 * One of the two paths a request names, as it stands on the wire. Source: IBTA 12.6.5, table 99.
 *
 * @param localLid the requester's local identifier; 0xffff on RoCE
 * @param remoteLid the listener's
 * @param local the requester's GID
 * @param remote the listener's GID
 * @param flowLabel 20 bits
 * @param packetRate 12 bits: six reserved, six of rate
 * @param trafficClass traffic class
 * @param hopLimit hop limit
 * @param serviceLevelAndSubnet service level, subnet-local flag, reserved bits
 * @param ackTimeout the requester's acknowledgement time-out, 5 bits; and 3 reserved
 */
record PathRecord(int localLid, int remoteLid, Gid local, Gid remote, int flowLabel, int packetRate,
        int trafficClass, int hopLimit, int serviceLevelAndSubnet, int ackTimeout) {
    static final PathRecord NONE = new PathRecord(0, 0, Gid.ZERO, Gid.ZERO, 0, 0, 0, 0, 0, 0);

    static PathRecord decode(ByteBuffer in) {
        int localLid = in.getShort() & 0xffff;
        int remoteLid = in.getShort() & 0xffff;
        Gid local = new Gid(in.getLong(), in.getLong());
        Gid remote = new Gid(in.getLong(), in.getLong());
        int label = in.getInt();
        return new PathRecord(localLid, remoteLid, local, remote, label >>> 12, label & 0xfff,
                in.get() & 0xff, in.get() & 0xff, in.get() & 0xff, in.get() & 0xff);
    }

    void encode(ByteBuffer out) {
        out.putShort((short) localLid).putShort((short) remoteLid);
        out.putLong(local.high()).putLong(local.low());
        out.putLong(remote.high()).putLong(remote.low());
        out.putInt(flowLabel << 12 | packetRate);
        out.put((byte) trafficClass).put((byte) hopLimit).put((byte) serviceLevelAndSubnet)
                .put((byte) ackTimeout);
    }

    /** {@return the acknowledgement time-out as an exponent} */
    int ackTimeoutExponent() {
        return ackTimeout >>> 3;
    }
}
