package io.rdma4j.cm;

/**
 * What happened to a {@link CmId}.
 *
 * <p>C: {@code enum rdma_cm_event_type}, {@code rdma_event_str}.
 */
public enum CmEventType {
    /** The destination's device and local address are known. */
    ADDR_RESOLVED,
    /** They could not be found. */
    ADDR_ERROR,
    /** The path to the destination is known. */
    ROUTE_RESOLVED,
    /** It could not be found. */
    ROUTE_ERROR,
    /** A listener received a request; the event carries a new id. */
    CONNECT_REQUEST,
    /** The peer accepted an id that has no queue pair of its own. */
    CONNECT_RESPONSE,
    /** The connection failed while it was set up. */
    CONNECT_ERROR,
    /** The peer does not answer, or a datagram service said no. */
    UNREACHABLE,
    /** The peer said no. */
    REJECTED,
    /** Both sides are connected. */
    ESTABLISHED,
    /** The connection has ended. */
    DISCONNECTED,
    /** The device is gone; the id can only be closed. */
    DEVICE_REMOVAL,
    /** A multicast group was joined. */
    MULTICAST_JOIN,
    /** It could not be joined. */
    MULTICAST_ERROR,
    /** The local address changed or went; a hint to connect anew. */
    ADDR_CHANGE,
    /** The queue pair may be reused. */
    TIMEWAIT_EXIT,
    /** Name and service are resolved. */
    ADDRINFO_RESOLVED,
    /** They could not be. */
    ADDRINFO_ERROR,
    /** Another thread posted an event of its own. */
    USER,
    /** An event of the provider's own; an application never sees it, in C as here. */
    INTERNAL;

    /** {@return the name {@code rdma_event_str} gives} */
    public String text() {
        return "RDMA_CM_EVENT_" + name();
    }
}
