// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.softnic.iwarp;

import io.rdma4j.softnic.network.stream.Stream;
import io.rdma4j.softnic.network.stream.StreamListener;
import io.rdma4j.softnic.network.stream.StreamNetwork;
import io.rdma4j.softnic.network.stream.StreamRefusal;
import io.rdma4j.verbs.Errno;
import io.rdma4j.verbs.RdmaException;
import org.jspecify.annotations.Nullable;

import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;

/** A network in which a test decides where it can be listened, and sees where it is. */
final class ReachableStreams implements StreamNetwork {
    /** What another program listens at. */
    final Set<InetAddress> taken = new HashSet<>();
    /** What the system lets no socket have. */
    final Set<InetAddress> unusable = new HashSet<>();
    /** What the system refuses for other reasons. */
    final Map<InetAddress, Errno> refused = new HashMap<>();
    final Set<InetAddress> listening = new HashSet<>();

    @Override
    public StreamListener listen(InetSocketAddress at, int backlog,
            StreamListener.Handler handler) throws RdmaException {
        InetAddress address = at.getAddress();
        if (taken.contains(address)) {
            throw StreamRefusal.inUse("listen", at, null);
        }
        Errno reason = refused.get(address);
        if (reason != null) {
            throw new RdmaException(reason, "listen", address.getHostAddress() + " is refused");
        }
        if (unusable.contains(address) || !listening.add(address)) {
            throw StreamRefusal.notAvailable("listen", at, null);
        }
        return new StreamListener() {
            @Override
            public InetSocketAddress local() {
                return at;
            }

            @Override
            public void close() {
                listening.remove(address);
            }
        };
    }

    @Override
    public Stream connect(@Nullable InetSocketAddress source, InetSocketAddress destination)
            throws RdmaException {
        throw StreamRefusal.noPortLeft("connect", null);
    }

    @Override
    public boolean poll() {
        return false;
    }

    @Override
    public boolean pollBriefly() {
        return false;
    }

    @Override
    public void await(long timeoutNs) {
        // Nothing ever arrives.
    }

    @Override
    public void wake() {
        // Nobody waits.
    }

    @Override
    public void close() {
        listening.clear();
    }
}
