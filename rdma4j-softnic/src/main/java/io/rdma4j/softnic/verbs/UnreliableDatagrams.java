// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.softnic.verbs;

import io.rdma4j.protocol.work.Route;
import io.rdma4j.verbs.AddressHandleAttributes;

/** The services of a transport for UD queue pairs, if it has any. */
public interface UnreliableDatagrams {
    /** {@return the route of datagrams with an address vector} For any thread. */
    Route route(AddressHandleAttributes attributes);
}
