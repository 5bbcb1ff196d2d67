// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.sockets.engine;

import io.rdma4j.sockets.protocol.StreamSettings;
import io.rdma4j.verbs.DeviceAttributes;
import io.rdma4j.verbs.DeviceContext;
import io.rdma4j.verbs.DeviceLimit;
import io.rdma4j.verbs.RdmaDevice;
import io.rdma4j.verbs.RdmaException;
import io.rdma4j.verbs.TransportType;
import org.jspecify.annotations.Nullable;

/**
 * What the application wants of a connection.
 *
 * @param sendBytes size of the send buffer
 * @param receiveBytes size of the receive buffer
 * @param growsSend whether the send buffer may become larger
 * @param growsReceive whether the receive buffer may become larger
 * @param sends depth of the send queue
 * @param credits how many messages can be received before the peer needs more credits
 * @param inlineBytes how many bytes are sent without the send buffer
 * @param mappings how many mappings of the peer are kept
 * @param keepalive whether an idle peer is probed
 * @param keepaliveSeconds after how many seconds, and how often
 * @param reuseAddress whether the local address may be shared
 * @param typeOfService of the packets
 * @param device the name of the device, null for that of the route
 * @param avoidsPortsOfTcp whether what is bound or connected does without iWARP, whose ports are those of TCP
 * @param rule by which the application goes over RDMA, for those who watch; empty for none
 */
public record SocketSettings(int sendBytes, int receiveBytes, boolean growsSend,
        boolean growsReceive, int sends, int credits, int inlineBytes, int mappings,
        boolean keepalive, int keepaliveSeconds, boolean reuseAddress, int typeOfService,
        @Nullable String device, boolean avoidsPortsOfTcp, String rule) {
    /** The sizes of librdmacm; {@code tcp_keepalive_time} of Linux. */
    public static final SocketSettings DEFAULT = new SocketSettings(BufferSize.usual(),
            BufferSize.usual(), !BufferSize.isFixed(), !BufferSize.isFixed(), 384, 384, 64, 0,
            false, 7200, false, 0, null, false, "");

    /** {@return the same on a device that is named} */
    SocketSettings on(RdmaDevice named) {
        return new SocketSettings(sendBytes, receiveBytes, growsSend, growsReceive, sends, credits,
                inlineBytes, mappings, keepalive, keepaliveSeconds, reuseAddress, typeOfService,
                named.name(), avoidsPortsOfTcp, rule);
    }

    /** {@return what a stream on a device gets} The device may allow less than is wanted. */
    StreamSettings on(DeviceContext context) throws RdmaException {
        DeviceAttributes attributes = context.queryDevice();
        long deepest = Math.min(attributes.limit(DeviceLimit.MAX_QP_WR), StreamSettings.MOST_DEPTH);
        int mostCredits = (int) deepest - StreamSettings.UNCREDITED;
        return new StreamSettings((int) Math.min(sends, deepest), Math.min(credits, mostCredits),
                Math.max(inlineBytes, StreamSettings.LEAST_INLINE), sendBytes, receiveBytes,
                mappings, context.device().transport() != TransportType.IWARP);
    }
}
