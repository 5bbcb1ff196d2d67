// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.cm;

/** The state of an id, and the steps that are possible in it. */
enum IdState {
    /** It has no address. */
    IDLE("the id has no address yet: bind or resolve one first"),
    /** It has a local address. */
    BOUND("the id is bound; it can listen or resolve an address"),
    /** It has a destination and a device. */
    ADDRESS_RESOLVED("the address is resolved; the route comes next"),
    /** It also has a path, so it can connect. */
    ROUTE_RESOLVED("the route is resolved; connecting comes next"),
    /** It receives connection requests, or look-ups of its datagram service. */
    LISTENING("the id listens; requests bring ids of their own"),
    /** It represents a request of a peer that the application has not yet accepted or rejected. */
    REQUESTED("the id stands for a request: accept or reject it"),
    /** It has sent a request to its peer, and has no answer yet. */
    CONNECTING("the id is being connected"),
    /** It has accepted a request, and the peer has not yet confirmed. */
    ACCEPTING("the id is being connected"),
    /** It is connected. */
    CONNECTED("the id is connected"),
    /** Its connection has ended, or was never established. */
    ENDED("the connection has ended; make a new id"),
    /** Its device was removed. */
    REMOVED("the device is gone; close the id"),
    /** The application has closed it. */
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
