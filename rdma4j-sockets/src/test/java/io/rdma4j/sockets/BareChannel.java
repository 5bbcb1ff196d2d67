// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.sockets;

import java.nio.channels.SelectionKey;
import java.nio.channels.spi.AbstractSelectableChannel;

/** A channel without a connection that can be selected for reading: a test says how ready it is. */
abstract class BareChannel extends AbstractSelectableChannel implements ChannelReadiness.Owner {
    BareChannel() {
        super(RdmaSelectorProvider.INSTANCE);
    }

    @Override
    public int validOps() {
        return SelectionKey.OP_READ;
    }
}
