// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.cm;

/**
 * What happened to a {@link CmId}. Each constant says when its event comes and what to do next.
 *
 * <p>C: {@code enum} {@index rdma_cm_event_type}, {@index rdma_event_str}.
 *
 * <p>A later version may add constants, so a {@code switch} needs a {@code default}.
 *
 * @since 0.1.0
 */
public enum CmEventType {
    /**
     * {@link CmId#resolveAddress} has found the device and the local address that lead to the destination. Next:
     * {@link CmId#resolveRoute}. C: {@index RDMA_CM_EVENT_ADDR_RESOLVED}.
     */
    ADDR_RESOLVED(0),
    /**
     * {@link CmId#resolveAddress} has found no device or local address that leads to the destination;
     * {@link CmEvent#cause} says why. The id is as before the call, so it may be tried again. C:
     * {@index RDMA_CM_EVENT_ADDR_ERROR}.
     */
    ADDR_ERROR(1),
    /**
     * {@link CmId#resolveRoute} has found a path to the destination. Next: {@link CmId#createQueuePair} and
     * {@link CmId#connect}. C: {@index RDMA_CM_EVENT_ROUTE_RESOLVED}.
     */
    ROUTE_RESOLVED(2),
    /**
     * {@link CmId#resolveRoute} has found no path: the device has lost the local address, or its port is down. The
     * address stays resolved, so the route may be tried again. C: {@index RDMA_CM_EVENT_ROUTE_ERROR}.
     */
    ROUTE_ERROR(3),
    /**
     * A peer wants to connect to a listening id, or looks up its datagram service. {@link CmEvent#id} is a new id that
     * stands for the request: accept or reject it, and close it in the end. C:
     * {@index RDMA_CM_EVENT_CONNECT_REQUEST}.
     */
    CONNECT_REQUEST(4),
    /**
     * The peer has accepted the connection, and the id has no queue pair of its own. Bring the application's queue
     * pair up with {@link CmId#initQueuePairAttributes}, then call {@link CmId#establish}, or
     * {@link CmId#reject}. Over iWARP {@link #ESTABLISHED} comes instead. C:
     * {@index RDMA_CM_EVENT_CONNECT_RESPONSE}.
     */
    CONNECT_RESPONSE(5),
    /**
     * Connecting failed on this side after the peer had accepted: this side's queue pair could not be brought up;
     * {@link CmEvent#cause} says why. Close the id. C: {@index RDMA_CM_EVENT_CONNECT_ERROR}.
     */
    CONNECT_ERROR(6),
    /**
     * The peer has not answered in time or cannot be reached (status {@code -EHOSTUNREACH}, {@code -ENETUNREACH}, {@code
     * -ECONNREFUSED}, {@code -EPERM}, otherwise {@code -ETIMEDOUT}), or over iWARP its stream has ended before the connection stood, for example because
     * the other side has closed its id ({@link CmEvent#status} is a negative errno); or a datagram service has refused the
     * look-up ({@code status} is above 0). The id of a request that is not answered yet gets it, too, when the requester
     * withdraws over iWARP; on RoCE and InfiniBand it gets {@link #REJECTED}. Close the id, and try again with a new one. C:
     * {@index RDMA_CM_EVENT_UNREACHABLE}.
     */
    UNREACHABLE(7),
    /**
     * The peer has refused the connection, or its system has because no process listens there;
     * {@link CmEvent#description} gives the reason in words. It also comes to an id that has accepted, if the peer
     * then withdraws. Close the id. C: {@index RDMA_CM_EVENT_REJECTED}.
     */
    REJECTED(8),
    /**
     * The connection is established on this side: sends may be posted. For a datagram service: the look-up succeeded,
     * and {@link CmEvent#datagram} says where to send. C: {@index RDMA_CM_EVENT_ESTABLISHED}.
     */
    ESTABLISHED(9),
    /**
     * One of the two sides has ended the connection. If it was the peer, call {@link CmId#disconnect} to flush the
     * requests that are outstanding on the queue pair. Then close the id. C:
     * {@index RDMA_CM_EVENT_DISCONNECTED}.
     */
    DISCONNECTED(10),
    /**
     * The device of the id was removed, so no further step of the id can succeed. Close the id and the objects that were
     * created with it. C: {@index RDMA_CM_EVENT_DEVICE_REMOVAL}.
     */
    DEVICE_REMOVAL(11),
    /**
     * {@link CmId#joinMulticast} has joined the group: datagrams of the group arrive from now on, and
     * {@link CmEvent#datagram} says where to send. C: {@index RDMA_CM_EVENT_MULTICAST_JOIN}.
     */
    MULTICAST_JOIN(12),
    /**
     * {@link CmId#joinMulticast} could not join the group; {@link CmEvent#cause} says why. The id is as before
     * the call. C: {@index RDMA_CM_EVENT_MULTICAST_ERROR}.
     */
    MULTICAST_ERROR(13),
    /**
     * The local address of the id has moved to another interface, or was removed. An existing connection is not ended by
     * this; if it stops working, connect anew with a new id. A listener goes on to listen, and is reached again once the address
     * is back. C: {@index RDMA_CM_EVENT_ADDR_CHANGE}.
     */
    ADDR_CHANGE(14),
    /**
     * The waiting time after the end of the connection is over: no late packet of it can arrive any more. An application
     * that keeps its queue pair may now use it for another connection. C: {@index RDMA_CM_EVENT_TIMEWAIT_EXIT}.
     */
    TIMEWAIT_EXIT(15),
    /**
     * {@link CmId#resolveAddressInfo} has found addresses. Next: {@link CmId#queryAddressInfo}. C:
     * {@index RDMA_CM_EVENT_ADDRINFO_RESOLVED}.
     */
    ADDRINFO_RESOLVED(16),
    /**
     * {@link CmId#resolveAddressInfo} has found no address for the name or no port for the service;
     * {@link CmEvent#cause} says which. It may be tried again. C: {@index RDMA_CM_EVENT_ADDRINFO_ERROR}.
     */
    ADDRINFO_ERROR(17),
    /**
     * A thread of the application has called {@link CmId#writeEvent}; its meaning is up to the application. C:
     * {@index RDMA_CM_EVENT_USER}.
     */
    USER(18),
    /** One that this version does not know; {@link CmEvent#typeCode} has its number. Nothing needs to be done. */
    UNKNOWN(-1);

    private final int code;

    CmEventType(int code) {
        this.code = code;
    }

    /**
     * {@return the constant of a number of rdma_cma.h, {@link #UNKNOWN} if there is none}
     *
     * @param code as in the C headers
     */
    public static CmEventType ofCode(int code) {
        for (CmEventType each : values()) {
            if (each.code == code) {
                return each;
            }
        }
        return UNKNOWN;
    }

    /** {@return the number rdma_cma.h gives this, -1 for {@link #UNKNOWN}} */
    public int code() {
        return code;
    }

    /** {@return the name {@code rdma_event_str} gives} */
    public String text() {
        return this == UNKNOWN ? "UNKNOWN EVENT" : "RDMA_CM_EVENT_" + name();
    }
}
