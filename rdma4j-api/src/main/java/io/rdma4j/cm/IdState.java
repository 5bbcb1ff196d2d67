package io.rdma4j.cm;

/** What an id is at, and what may come next. */
enum IdState {
    IDLE("the id has no address yet: bind or resolve one first"), BOUND(
            "the id is bound; it can listen or resolve an address"), ADDRESS_RESOLVED(
                    "the address is resolved; the route comes next"), ROUTE_RESOLVED(
                            "the route is resolved; connecting comes next"), LISTENING(
                                    "the id listens; requests bring ids of their own"), REQUESTED(
                                            "the id stands for a request: accept or reject it"), CONNECTING(
                                                    "the id is being connected"), ACCEPTING(
                                                            "the id is being connected"), CONNECTED(
                                                                    "the id is connected"), ENDED(
                                                                            "the connection has ended; make a new id"), REMOVED(
                                                                                    "the device is gone; close the id"), CLOSED(
                                                                                            "the id is closed");

    private final String hint;

    IdState(String hint) {
        this.hint = hint;
    }

    /** {@return why a step is out of order, and what is in order} */
    String hint() {
        return hint;
    }
}
