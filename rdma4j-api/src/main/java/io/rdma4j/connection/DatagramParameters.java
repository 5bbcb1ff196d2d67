// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.connection;

import io.rdma4j.verbs.AddressHandleAttributes;

/**
 * Where datagrams go: to a service that was looked up, or to a multicast group that was joined.
 *
 * <p>C: {@code struct} {@index rdma_ud_param}. Immutable.
 *
 * @since 0.1.0
 */
public final class DatagramParameters {
    /** The Q_Key that port space UDP uses by default. C: {@index RDMA_UDP_QKEY}. */
    public static final int UDP_QKEY = 0x0123_4567;
    /** The queue pair that datagrams to a multicast group name. Source: IBTA 10.5.2.1. */
    public static final int MULTICAST_QUEUE_PAIR = 0xffffff;

    private final AddressHandleAttributes path;
    private final int queuePairNumber;
    private final int qkey;
    private final byte[] privateData;

    /**
     * Creates parameters of a service.
     *
     * @param path what an address handle is created from
     * @param queuePairNumber the queue pair that serves
     * @param qkey its Q_Key
     * @param privateData bytes of the peer's application
     */
    public DatagramParameters(AddressHandleAttributes path, int queuePairNumber, int qkey,
            byte[] privateData) {
        this.path = path;
        this.queuePairNumber = queuePairNumber;
        this.qkey = qkey;
        this.privateData = privateData.clone();
    }

    /** {@return what an address handle is created from ({@index ah_attr of struct rdma_ud_param})} */
    public AddressHandleAttributes path() {
        return path;
    }

    /** {@return the queue pair to send to ({@index qp_num of struct rdma_ud_param})} */
    public int queuePairNumber() {
        return queuePairNumber;
    }

    /** {@return the Q_Key to send with} C: {@index qkey of struct rdma_ud_param}. */
    public int qkey() {
        return qkey;
    }

    /**
     * {@return bytes of the peer's application, a copy; empty for a multicast group} C:
     * {@index private_data of struct rdma_ud_param}, {@index private_data_len of struct rdma_ud_param}.
     */
    public byte[] privateData() {
        return privateData.clone();
    }

    @Override
    public String toString() {
        return String.format("queue pair 0x%06x at %s, Q_Key 0x%08x", queuePairNumber,
                path.destination().addressText(), qkey);
    }
}
