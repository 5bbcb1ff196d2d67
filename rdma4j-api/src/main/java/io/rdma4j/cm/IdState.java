package io.rdma4j.cm;

/** What an id is at, and what may come next. */
enum IdState {
    /** New. */
    IDLE("the id has no address yet: bind or resolve one first"),
    /** It has a local address. */
    BOUND("the id is bound; it can listen or resolve an address"),
    /** It has a destination and a device. */
    ADDRESS_RESOLVED("the address is resolved; the route comes next"),
    /** It can connect. */
    ROUTE_RESOLVED("the route is resolved; connecting comes next"),
    /** Requests reach it. */
    LISTENING("the id listens; requests bring ids of their own"),
    /** It stands for a request that is not answered. */
    REQUESTED("the id stands for a request: accept or reject it"),
    /** It has asked its peer. */
    CONNECTING("the id is being connected"),
    /** It has accepted its peer. */
    ACCEPTING("the id is being connected"),
    /** The connection stands. */
    CONNECTED("the id is connected"),
    /** The connection is over, or never came about. */
    ENDED("the connection has ended; make a new id"),
    /** The device is gone. */
    REMOVED("the device is gone; close the id"),
    /** It is closed. */
    CLOSED("the id is closed");

    private final String hint;

    IdState(String hint) {
        this.hint = hint;
    }

    /** {@return why a step is out of order, and what is in order} */
    String hint() {
        return hint;
    }
}
