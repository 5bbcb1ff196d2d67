// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.softnic.network.linux.memory;

import io.rdma4j.softnic.network.linux.calls.LinuxSocket;

import java.util.HashMap;
import java.util.Map;
import java.util.Set;

/** The pipes of other processes that this one has woken, by their inodes. For the owner of the engine. */
final class Wakers implements AutoCloseable {
    private static final int MAX = 256;

    private final Map<Long, WakePipe> pipes = new HashMap<>();

    /** Ends a sleep of another process, if it still has that pipe. */
    void wake(long process, int descriptor, long inode) {
        WakePipe pipe = pipes.get(inode);
        if (pipe == null) {
            try {
                pipe = WakePipe.open(process, descriptor, inode);
            } catch (LinuxSocket.Refused gone) {
                return;
            }
            if (pipes.size() >= MAX) {
                close();
            }
            pipes.put(inode, pipe);
        }
        if (!pipe.wake()) {
            forget(inode);
        }
    }

    /** Closes all but some; what is closed is opened again when it is to be woken. */
    void keep(Set<Long> inodes) {
        pipes.entrySet().removeIf(each -> {
            boolean isGone = !inodes.contains(each.getKey());
            if (isGone) {
                each.getValue().close();
            }
            return isGone;
        });
    }

    void forget(long inode) {
        WakePipe pipe = pipes.remove(inode);
        if (pipe != null) {
            pipe.close();
        }
    }

    boolean isEmpty() {
        return pipes.isEmpty();
    }

    @Override
    public void close() {
        pipes.values().forEach(WakePipe::close);
        pipes.clear();
    }
}
