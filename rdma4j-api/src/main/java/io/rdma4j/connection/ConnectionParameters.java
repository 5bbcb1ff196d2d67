package io.rdma4j.connection;

/**
 * What one side of a connection tells the other, and wants of its own queue pair.
 *
 * <p>C: {@code struct rdma_conn_param}. A mutable object of the caller, copied when used. A new one asks
 * for as many READs and atomics as the device can hold, and for endless patience with a peer that is
 * slow to post receives.
 */
public final class ConnectionParameters {
    /** As many READs and atomics as the device supports. C: {@code RDMA_MAX_RESP_RES}. */
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

    /** Creates a copy. */
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

    /** {@return bytes for the peer's application, a copy} */
    public byte[] privateData() {
        return privateData.clone();
    }

    /**
     * Sets bytes for the peer's application, as many as the transport carries ({@code CmId.privateDataLimits}). The
     * peer may see zeros behind them.
     */
    public ConnectionParameters privateData(byte[] value) {
        privateData = value.clone();
        return this;
    }

    /** {@return READs and atomics of the peer this side can hold} */
    public int responderResources() {
        return responderResources;
    }

    /** Sets READs and atomics of the peer this side can hold, 0 to 255. */
    public ConnectionParameters responderResources(int value) {
        responderResources = inRange("responderResources", value, 0xff);
        return this;
    }

    /** {@return READs and atomics this side may have outstanding} */
    public int initiatorDepth() {
        return initiatorDepth;
    }

    /** Sets READs and atomics this side may have outstanding, 0 to 255. */
    public ConnectionParameters initiatorDepth(int value) {
        initiatorDepth = inRange("initiatorDepth", value, 0xff);
        return this;
    }

    /** {@return whether this side offers end-to-end flow control} */
    public boolean flowControl() {
        return flowControl;
    }

    /** Sets whether this side offers end-to-end flow control. */
    public ConnectionParameters flowControl(boolean value) {
        flowControl = value;
        return this;
    }

    /** {@return retries of an unacknowledged packet} */
    public int retryCount() {
        return retryCount;
    }

    /** Sets retries of an unacknowledged packet, 0 to 7. */
    public ConnectionParameters retryCount(int value) {
        retryCount = inRange("retryCount", value, 7);
        return this;
    }

    /** {@return the peer's retries while this side has no receive posted} */
    public int rnrRetryCount() {
        return rnrRetryCount;
    }

    /** Sets the peer's retries while this side has no receive posted; 7 is for ever. */
    public ConnectionParameters rnrRetryCount(int value) {
        rnrRetryCount = inRange("rnrRetryCount", value, 7);
        return this;
    }

    /** {@return whether the queue pair draws from a shared receive queue} */
    public boolean sharedReceiveQueue() {
        return sharedReceiveQueue;
    }

    /** Sets whether the queue pair draws from a shared one; for queue pairs not of the id's own. */
    public ConnectionParameters sharedReceiveQueue(boolean value) {
        sharedReceiveQueue = value;
        return this;
    }

    /** {@return the queue pair: one's own to be used, or in an event the peer's} */
    public int queuePairNumber() {
        return queuePairNumber;
    }

    /** Sets the queue pair to use, for queue pairs not of the id's own. */
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
}
