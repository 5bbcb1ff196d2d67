// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.ibverbs.cm;

/** {@code enum rdma_cm_event_type}: the ordinal of a constant is its value in C, except that of {@link #OTHER}. */
enum EventType {
    ADDR_RESOLVED,
    ADDR_ERROR,
    ROUTE_RESOLVED,
    ROUTE_ERROR,
    CONNECT_REQUEST,
    CONNECT_RESPONSE,
    CONNECT_ERROR,
    UNREACHABLE,
    REJECTED,
    ESTABLISHED,
    DISCONNECTED,
    DEVICE_REMOVAL,
    MULTICAST_JOIN,
    MULTICAST_ERROR,
    ADDR_CHANGE,
    TIMEWAIT_EXIT,
    /** Any other: of newer libraries, and those that ids of the API publish by themselves. */
    OTHER;

    private static final EventType[] VALUES = values();

    /** {@return the event of a number} */
    static EventType of(int number) {
        return number >= 0 && number < VALUES.length ? VALUES[number] : OTHER;
    }
}
