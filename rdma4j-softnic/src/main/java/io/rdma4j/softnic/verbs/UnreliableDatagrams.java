package io.rdma4j.softnic.verbs;

import io.rdma4j.protocol.work.Route;
import io.rdma4j.verbs.AddressHandleAttributes;

/** What a transport does for UD queue pairs, if it has any. */
public interface UnreliableDatagrams {
    /** {@return how datagrams travel by an address vector} Any thread may ask. */
    Route route(AddressHandleAttributes attributes);
}
