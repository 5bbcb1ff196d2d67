// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.ibverbs.cm;

import io.rdma4j.connection.ConnectionParameters;
import io.rdma4j.connection.DatagramParameters;
import io.rdma4j.ibverbs.abi.CmLayout.CmEvent;
import io.rdma4j.ibverbs.abi.ErrorNumbers;
import io.rdma4j.ibverbs.abi.Native;
import io.rdma4j.ibverbs.values.Paths;
import io.rdma4j.spi.UnknownEvents;
import io.rdma4j.verbs.Errno;
import org.jspecify.annotations.Nullable;

import java.lang.foreign.MemorySegment;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;

/**
 * A copy of a {@code struct rdma_cm_event}, which is the library's again once it is acknowledged.
 *
 * @param fields the structure; its pointers are of no use
 * @param privateData bytes of the peer's application
 */
record IdEvent(EventType type, MemorySegment fields, byte[] privateData) {
    private static final System.Logger LOG = System.getLogger(IdEvent.class.getName());
    private static final int LOW_THREE_BITS = 7;
    private static final int LOW_24_BITS = 0xffffff;

    static IdEvent copyOf(MemorySegment event) {
        EventType type = EventType.of(Native.getInt(event, CmEvent.EVENT));
        // What a newer type has in place of the private data is not known.
        long data = type == EventType.OTHER ? 0 : Native.getLong(event, CmEvent.PRIVATE_DATA);
        int length = data == 0 ? 0 : Native.getByte(event, CmEvent.PRIVATE_DATA_LEN);
        byte[] privateData = length == 0 ? new byte[0]
                : Native.at(data, length).toArray(JAVA_BYTE);
        return new IdEvent(type, MemorySegment.ofArray(event.toArray(JAVA_BYTE)), privateData);
    }

    /** Notifies a handler, if there is one, of an event of type {@link EventType#OTHER}. */
    void reportTo(@Nullable UnknownEvents handler) {
        int typeCode = Native.getInt(fields, CmEvent.EVENT);
        if (handler == null) {
            LOG.log(System.Logger.Level.DEBUG,
                    "an event of type {0} is of no id that the application has", typeCode);
            return;
        }
        handler.onUnknownEvent(typeCode, status());
    }

    /** {@return a number of the transport's own, or a negative error number} */
    int status() {
        return Native.getInt(fields, CmEvent.STATUS);
    }

    /** {@return the status as an error; ETIMEDOUT if it is unknown} */
    Errno reason() {
        return status() == 0 ? Errno.ETIMEDOUT : ErrorNumbers.of(Math.abs(status()));
    }

    /** {@return the parameters that the peer requests or grants} */
    ConnectionParameters parameters() {
        return new ConnectionParameters().privateData(privateData)
                .responderResources(Native.getByte(fields, CmEvent.RESPONDER_RESOURCES))
                .initiatorDepth(Native.getByte(fields, CmEvent.INITIATOR_DEPTH))
                .flowControl(Native.getByte(fields, CmEvent.FLOW_CONTROL) != 0)
                .retryCount(Native.getByte(fields, CmEvent.RETRY_COUNT) & LOW_THREE_BITS)
                .rnrRetryCount(Native.getByte(fields, CmEvent.RNR_RETRY_COUNT) & LOW_THREE_BITS)
                .sharedReceiveQueue(Native.getByte(fields, CmEvent.SRQ) != 0)
                .queuePairNumber(Native.getInt(fields, CmEvent.QP_NUM) & LOW_24_BITS);
    }

    /** {@return the destination of datagrams} */
    DatagramParameters service() {
        return new DatagramParameters(Paths.read(fields, CmEvent.UD_AH_ATTR),
                Native.getInt(fields, CmEvent.UD_QP_NUM) & LOW_24_BITS,
                Native.getInt(fields, CmEvent.UD_QKEY), privateData);
    }
}
