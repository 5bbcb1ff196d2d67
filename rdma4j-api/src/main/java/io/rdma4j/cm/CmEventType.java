package io.rdma4j.cm;

/**
 * What happened to a {@link CmId}.
 *
 * <p>C: {@code enum rdma_cm_event_type}, {@code rdma_event_str}.
 */
public enum CmEventType {
    /**
     * {@link CmId#resolveAddress} has found the device and the local address that lead to the destination. Next:
     * {@link CmId#resolveRoute}. C: {@code RDMA_CM_EVENT_ADDR_RESOLVED}.
     */
    ADDR_RESOLVED,
    /**
     * {@link CmId#resolveAddress} has found no device or local address that leads to the destination;
     * {@link CmEvent#cause} says why. The id is as before the call, so it may be tried again. C:
     * {@code RDMA_CM_EVENT_ADDR_ERROR}.
     */
    ADDR_ERROR,
    /**
     * {@link CmId#resolveRoute} has found a path to the destination. Next: {@link CmId#createQueuePair} and
     * {@link CmId#connect}. C: {@code RDMA_CM_EVENT_ROUTE_RESOLVED}.
     */
    ROUTE_RESOLVED,
    /**
     * {@link CmId#resolveRoute} has found no path: the device has lost the local address, or its port is down. The
     * address stays resolved, so the route may be tried again. C: {@code RDMA_CM_EVENT_ROUTE_ERROR}.
     */
    ROUTE_ERROR,
    /**
     * A peer wants to connect to a listening id, or looks up its datagram service. {@link CmEvent#id} is a new id that
     * stands for the request: accept or reject it, and close it in the end. C:
     * {@code RDMA_CM_EVENT_CONNECT_REQUEST}.
     */
    CONNECT_REQUEST,
    /**
     * The peer has accepted the connection of an id that has no queue pair of its own. Bring the application's queue
     * pair up with {@link CmId#initQueuePairAttributes}, then call {@link CmId#establish}, or
     * {@link CmId#reject}. It does not come over iWARP: there ESTABLISHED does. C:
     * {@code RDMA_CM_EVENT_CONNECT_RESPONSE}.
     */
    CONNECT_RESPONSE,
    /**
     * Connecting failed on this side, after the peer had answered: its queue pair could not be brought up;
     * {@link CmEvent#cause} says why. Close the id. C: {@code RDMA_CM_EVENT_CONNECT_ERROR}.
     */
    CONNECT_ERROR,
    /**
     * The peer has not answered in time ({@link CmEvent#status} is a negative errno), or a datagram service has said no
     * (it is above 0). Close the id, and try again with a new one. C: {@code RDMA_CM_EVENT_UNREACHABLE}.
     */
    UNREACHABLE,
    /**
     * The peer, or its system because nobody listens there, has said no to the connection;
     * {@link CmEvent#description} says why in words. Also for an accepted id, whose peer withdraws. Close the
     * id. C: {@code RDMA_CM_EVENT_REJECTED}.
     */
    REJECTED,
    /**
     * The connection stands on this side, so sends may be posted; of a datagram service, it was found, and
     * {@link CmEvent#datagram} says where to send. C: {@code RDMA_CM_EVENT_ESTABLISHED}.
     */
    ESTABLISHED,
    /**
     * The connection has ended, by either side. On the side that did not end it, call {@link CmId#disconnect} to flush
     * what is outstanding on the queue pair, then close the id. C: {@code RDMA_CM_EVENT_DISCONNECTED}.
     */
    DISCONNECTED,
    /**
     * The device of the id is gone, so no step of the id succeeds any more. Close the id and what was made with
     * it. C: {@code RDMA_CM_EVENT_DEVICE_REMOVAL}.
     */
    DEVICE_REMOVAL,
    /**
     * {@link CmId#joinMulticast} has joined the group: datagrams of the group arrive from now on, and
     * {@link CmEvent#datagram} says where to send. C: {@code RDMA_CM_EVENT_MULTICAST_JOIN}.
     */
    MULTICAST_JOIN,
    /**
     * {@link CmId#joinMulticast} could not join the group; {@link CmEvent#cause} says why. The id is as before
     * the call. C: {@code RDMA_CM_EVENT_MULTICAST_ERROR}.
     */
    MULTICAST_ERROR,
    /**
     * The local address of the id has moved to another interface, or is gone. A connection may still stand; where it
     * does not come back to life, connect anew with a new id. C: {@code RDMA_CM_EVENT_ADDR_CHANGE}.
     */
    ADDR_CHANGE,
    /**
     * Some time after the connection ended, no late packet of it can arrive any more: an application that keeps the
     * queue pair may use it for another connection from now on. C: {@code RDMA_CM_EVENT_TIMEWAIT_EXIT}.
     */
    TIMEWAIT_EXIT,
    /**
     * {@link CmId#resolveAddressInfo} has found addresses. Next: {@link CmId#queryAddressInfo}. C:
     * {@code RDMA_CM_EVENT_ADDRINFO_RESOLVED}.
     */
    ADDRINFO_RESOLVED,
    /**
     * {@link CmId#resolveAddressInfo} has found no address for the name or no port for the service;
     * {@link CmEvent#cause} says which. It may be tried again. C: {@code RDMA_CM_EVENT_ADDRINFO_ERROR}.
     */
    ADDRINFO_ERROR,
    /**
     * A thread of the application has called {@link CmId#writeEvent}; what it means is the application's
     * business. C: {@code RDMA_CM_EVENT_USER}.
     */
    USER,
    /**
     * An event of the provider's own; an application never sees it, in C as here. C:
     * {@code RDMA_CM_EVENT_INTERNAL}.
     */
    INTERNAL;

    /** {@return the name {@code rdma_event_str} gives} */
    public String text() {
        return "RDMA_CM_EVENT_" + name();
    }
}
