// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.connection;

/**
 * What one side of a connection tells the other, and wants of its own queue pair.
 *
 * <p>C: {@code struct} {@index rdma_conn_param}. A mutable object of the caller, copied when used. A new one asks
 * for as many READs and atomics as the device can hold, and for endless patience with a peer that is
 * slow to post receives.
 *
 * @since 0.1.0
 */
public final class ConnectionParameters {
    /**
     * As many READs and atomics as the device supports. C: {@index RDMA_MAX_RESP_RES},
     * {@index RDMA_MAX_INIT_DEPTH}.
     */
    public static final int MAXIMUM = 0xff;

    private byte[] privateData = {};
    private int responderResources = MAXIMUM;
    private int initiatorDepth = MAXIMUM;
    private boolean flowControl = true;
    private int retryCount = 7;
    private int rnrRetryCount = 7;
    private boolean sharedReceiveQueue;
    private int queuePairNumber;
    private int qkey;

    /** Creates the default. */
    public ConnectionParameters() {}

    /**
     * Creates a copy.
     *
     * @param other what is copied
     */
    public ConnectionParameters(ConnectionParameters other) {
        privateData = other.privateData.clone();
        responderResources = other.responderResources;
        initiatorDepth = other.initiatorDepth;
        flowControl = other.flowControl;
        retryCount = other.retryCount;
        rnrRetryCount = other.rnrRetryCount;
        sharedReceiveQueue = other.sharedReceiveQueue;
        queuePairNumber = other.queuePairNumber;
        qkey = other.qkey;
    }

    /**
     * {@return bytes for the peer's application, a copy} C: {@index private_data of struct rdma_conn_param},
     * {@index private_data_len of struct rdma_conn_param}.
     */
    public byte[] privateData() {
        return privateData.clone();
    }

    /**
     * Sets bytes for the peer's application, as many as the transport carries ({@code CmId.privateDataLimits}). The
     * peer may see zeros behind them. C: {@index private_data of struct rdma_conn_param},
     * {@index private_data_len of struct rdma_conn_param}.
     */
    public ConnectionParameters privateData(byte[] value) {
        privateData = value.clone();
        return this;
    }

    /**
     * {@return READs and atomics of the peer this side can hold} C:
     * {@index responder_resources of struct rdma_conn_param}.
     */
    public int responderResources() {
        return responderResources;
    }

    /**
     * Sets READs and atomics of the peer this side can hold, 0 to 255. C:
     * {@index responder_resources of struct rdma_conn_param}.
     */
    public ConnectionParameters responderResources(int value) {
        responderResources = inRange("responderResources", value, 0xff);
        return this;
    }

    /** {@return READs and atomics this side may have outstanding} C: {@index initiator_depth of struct rdma_conn_param}. */
    public int initiatorDepth() {
        return initiatorDepth;
    }

    /**
     * Sets READs and atomics this side may have outstanding, 0 to 255. C:
     * {@index initiator_depth of struct rdma_conn_param}.
     */
    public ConnectionParameters initiatorDepth(int value) {
        initiatorDepth = inRange("initiatorDepth", value, 0xff);
        return this;
    }

    /** {@return whether this side offers end-to-end flow control} C: {@index flow_control of struct rdma_conn_param}. */
    public boolean flowControl() {
        return flowControl;
    }

    /** Sets whether this side offers end-to-end flow control. C: {@index flow_control of struct rdma_conn_param}. */
    public ConnectionParameters flowControl(boolean value) {
        flowControl = value;
        return this;
    }

    /** {@return retries of an unacknowledged packet} C: {@index retry_count of struct rdma_conn_param}. */
    public int retryCount() {
        return retryCount;
    }

    /** Sets retries of an unacknowledged packet, 0 to 7. C: {@index retry_count of struct rdma_conn_param}. */
    public ConnectionParameters retryCount(int value) {
        retryCount = inRange("retryCount", value, 7);
        return this;
    }

    /**
     * {@return the peer's retries while this side has no receive posted} C:
     * {@index rnr_retry_count of struct rdma_conn_param}.
     */
    public int rnrRetryCount() {
        return rnrRetryCount;
    }

    /**
     * Sets the peer's retries while this side has no receive posted; 7 means without limit. A peer that may retry a few times is
     * asked to wait 655 ms before each, but only 0.64 ms before the first of several. No effect over iWARP, where a message
     * without a receive ends the connection. C: {@index rnr_retry_count of struct rdma_conn_param}.
     */
    public ConnectionParameters rnrRetryCount(int value) {
        rnrRetryCount = inRange("rnrRetryCount", value, 7);
        return this;
    }

    /** {@return whether the queue pair draws from a shared receive queue} C: {@index srq of struct rdma_conn_param}. */
    public boolean sharedReceiveQueue() {
        return sharedReceiveQueue;
    }

    /**
     * Sets whether the queue pair draws from a shared one; for queue pairs not of the id's own. C:
     * {@index srq of struct rdma_conn_param}.
     */
    public ConnectionParameters sharedReceiveQueue(boolean value) {
        sharedReceiveQueue = value;
        return this;
    }

    /**
     * {@return the queue pair: one's own to be used, or in an event the peer's} C:
     * {@index qp_num of struct rdma_conn_param}.
     */
    public int queuePairNumber() {
        return queuePairNumber;
    }

    /** Sets the queue pair to use, for queue pairs not of the id's own. C: {@index qp_num of struct rdma_conn_param}. */
    public ConnectionParameters queuePairNumber(int value) {
        queuePairNumber = inRange("queuePairNumber", value, 0xffffff);
        return this;
    }

    /** {@return the Q_Key of a datagram service} */
    public int qkey() {
        return qkey;
    }

    /** Sets the Q_Key of a datagram service. */
    public ConnectionParameters qkey(int value) {
        qkey = value;
        return this;
    }

    private static int inRange(String name, int value, int maximum) {
        if (value < 0 || value > maximum) {
            throw new IllegalArgumentException(
                    name + " must be from 0 to " + maximum + ", not " + value);
        }
        return value;
    }

    @Override
    public String toString() {
        return String.format("queue pair 0x%06x, responder resources %s, initiator depth %s,"
                + " retries %d, RNR retries %d, %d bytes of private data", queuePairNumber,
                number(responderResources), number(initiatorDepth), retryCount, rnrRetryCount,
                privateData.length);
    }

    private static String number(int value) {
        return value == MAXIMUM ? "as many as possible" : String.valueOf(value);
    }
}
