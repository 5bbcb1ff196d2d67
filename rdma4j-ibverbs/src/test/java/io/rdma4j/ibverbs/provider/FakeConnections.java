// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.ibverbs.provider;

import io.rdma4j.ibverbs.abi.CmLayout.EventChannel;
import io.rdma4j.ibverbs.abi.CmSymbol;
import io.rdma4j.ibverbs.abi.FakeLibrary;
import io.rdma4j.ibverbs.abi.Library;
import io.rdma4j.ibverbs.abi.Native;
import io.rdma4j.ibverbs.abi.SystemSymbol;
import io.rdma4j.verbs.RdmaException;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.List;

/** A librdmacm made of Java with a channel on which nothing happens. */
final class FakeConnections {
    private FakeConnections() {}

    static Library<SystemSymbol> system() {
        try {
            return new Library<>("libc.so.6", SystemSymbol.class, FakeLibrary.system());
        } catch (RdmaException e) {
            throw new IllegalStateException(e);
        }
    }

    static FakeLibrary working() {
        FakeLibrary library = new FakeLibrary(List.of(CmSymbol.values()));
        long channel = channel();
        library.define(CmSymbol.CREATE_EVENT_CHANNEL, arguments -> channel);
        return library;
    }

    /** {@return the address of a channel} */
    static long channel() {
        MemorySegment channel = Arena.global().allocate(EventChannel.SIZE, 4);
        Native.putInt(channel, EventChannel.FD,
                (int) system().get(SystemSymbol.EVENTFD).call(0, 0).value());
        return channel.address();
    }
}
