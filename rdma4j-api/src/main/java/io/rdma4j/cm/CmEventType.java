package io.rdma4j.cm;

/**
 * What happened to a {@link CmId}.
 *
 * <p>C: {@code enum rdma_cm_event_type}, {@code rdma_event_str}.
 */
public enum CmEventType {
    /**
     * {@link CmId#resolveAddress} has found the device and the local address that lead to the destination. Next:
     * {@link CmId#resolveRoute}.
     */
    ADDR_RESOLVED,
    /**
     * {@link CmId#resolveAddress} has found no device or local address that leads to the destination;
     * {@link CmEvent#cause} says why. The id is as before the call, so it may be tried again.
     */
    ADDR_ERROR,
    /**
     * {@link CmId#resolveRoute} has found a path to the destination. Next: {@link CmId#createQueuePair} and
     * {@link CmId#connect}.
     */
    ROUTE_RESOLVED,
    /**
     * {@link CmId#resolveRoute} has found no path: the device has lost the local address, or its port is down. The
     * address stays resolved, so the route may be tried again.
     */
    ROUTE_ERROR,
    /**
     * A peer wants to connect to a listening id, or looks up its datagram service. {@link CmEvent#id} is a new id that
     * stands for the request: accept or reject it, and close it in the end.
     */
    CONNECT_REQUEST,
    /**
     * The peer has accepted the connection of an id that has no queue pair of its own. Bring the application's queue
     * pair up with {@link CmId#initQueuePairAttributes}, then call {@link CmId#establish}, or {@link CmId#reject}.
     */
    CONNECT_RESPONSE,
    /**
     * Connecting failed on this side, after the peer had answered: its queue pair could not be brought up;
     * {@link CmEvent#cause} says why. Close the id.
     */
    CONNECT_ERROR,
    /**
     * The peer has not answered in time ({@link CmEvent#status} is a negative errno), or a datagram service has said no
     * (it is above 0). Close the id, and try again with a new one.
     */
    UNREACHABLE,
    /**
     * The peer, or its system because nobody listens there, has said no to the connection;
     * {@link CmEvent#description} says why in words. Also for an accepted id, whose peer withdraws. Close the id.
     */
    REJECTED,
    /**
     * The connection stands on this side, so sends may be posted; of a datagram service, it was found, and
     * {@link CmEvent#datagram} says where to send.
     */
    ESTABLISHED,
    /**
     * The connection has ended, by either side. On the side that did not end it, call {@link CmId#disconnect} to flush
     * what is outstanding on the queue pair, then close the id.
     */
    DISCONNECTED,
    /** The device of the id is gone, so no step of the id succeeds any more. Close the id and what was made with it. */
    DEVICE_REMOVAL,
    /**
     * {@link CmId#joinMulticast} has joined the group: datagrams of the group arrive from now on, and
     * {@link CmEvent#datagram} says where to send.
     */
    MULTICAST_JOIN,
    /**
     * {@link CmId#joinMulticast} could not join the group; {@link CmEvent#cause} says why. The id is as before the call.
     */
    MULTICAST_ERROR,
    /**
     * The local address of the id has moved to another interface, or is gone. A connection may still stand; where it
     * does not come back to life, connect anew with a new id.
     */
    ADDR_CHANGE,
    /**
     * Some time after the connection ended, no late packet of it can arrive any more: an application that keeps the
     * queue pair may use it for another connection from now on.
     */
    TIMEWAIT_EXIT,
    /** {@link CmId#resolveAddressInfo} has found addresses. Next: {@link CmId#queryAddressInfo}. */
    ADDRINFO_RESOLVED,
    /**
     * {@link CmId#resolveAddressInfo} has found no address for the name or no port for the service;
     * {@link CmEvent#cause} says which. It may be tried again.
     */
    ADDRINFO_ERROR,
    /** A thread of the application has called {@link CmId#writeEvent}; what it means is the application's business. */
    USER,
    /** An event of the provider's own; an application never sees it, in C as here. */
    INTERNAL;

    /** {@return the name {@code rdma_event_str} gives} */
    public String text() {
        return "RDMA_CM_EVENT_" + name();
    }
}
