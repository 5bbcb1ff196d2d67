// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.cm;

import io.rdma4j.verbs.Errno;
import io.rdma4j.verbs.RdmaException;
import org.jspecify.annotations.Nullable;

import java.util.List;

/** The look-up of names for an id, in a thread of its own. */
final class NameResolver {
    private static final String OPERATION = "resolve address information";

    private final IdEvents events;
    private volatile @Nullable List<AddressInfo> found;

    NameResolver(IdEvents events) {
        this.events = events;
    }

    void start(@Nullable String node, @Nullable String service, AddressInfo.Hints hints)
            throws RdmaException {
        AddressInfo.Hints copy = new AddressInfo.Hints(hints);
        copy.check();
        found = null;
        try {
            // No virtual one: the program's may keep all carriers.
            Thread.ofPlatform().daemon().name("rdma4j-lookup")
                    .start(() -> run(node, service, copy));
        } catch (OutOfMemoryError noThread) {
            throw new RdmaException(Errno.ENOMEM, OPERATION,
                    "the system gives no thread that could wait for the name service", noThread);
        }
        events.complete(OPERATION, CmEventType.ADDRINFO_RESOLVED);
    }

    private void run(@Nullable String node, @Nullable String service, AddressInfo.Hints hints) {
        try {
            found = AddressInfo.resolve(node, service, hints);
            events.publish(CmEventType.ADDRINFO_RESOLVED, EventDetails.NONE);
        } catch (RdmaException e) {
            events.publish(CmEventType.ADDRINFO_ERROR, EventDetails.failure(e));
        } catch (RuntimeException | Error e) {
            // Somebody waits for it.
            events.publish(CmEventType.ADDRINFO_ERROR, EventDetails.failure(
                    new RdmaException(Errno.EIO, OPERATION, "the look-up failed: " + e, e)));
        }
    }

    List<AddressInfo> found() throws RdmaException {
        List<AddressInfo> present = found;
        if (present == null) {
            throw new RdmaException(Errno.ENODATA, "query address information",
                    "none is resolved: resolve it and wait for ADDRINFO_RESOLVED first");
        }
        return present;
    }
}
