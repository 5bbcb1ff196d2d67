// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.ibverbs.device;

import io.rdma4j.verbs.RdmaException;

/**
 * A step of closing something, as a resource: a try statement does it even if another step fails, and reports the first failure.
 */
@FunctionalInterface
public interface Closing extends AutoCloseable {
    @Override
    void close() throws RdmaException;
}
