// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.softnic.network.linux.sharing;

import java.util.concurrent.ThreadFactory;
import java.util.function.BooleanSupplier;

/** A system that gives no thread for a while, as one does where a process has as many as it may have. */
final class ShortOfThreads {
    private ShortOfThreads() {}

    /** {@return what makes daemon threads, which do not start while the condition holds} */
    static ThreadFactory during(BooleanSupplier shortage) {
        return task -> {
            Thread thread = new Thread(task) {
                @Override
                public void start() {
                    if (shortage.getAsBoolean()) {
                        throw new OutOfMemoryError("unable to create native thread");
                    }
                    super.start();
                }
            };
            thread.setDaemon(true);
            return thread;
        };
    }
}
