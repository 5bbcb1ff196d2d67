// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.sockets.engine;

import io.rdma4j.verbs.MemoryRegion;

import java.nio.ByteBuffer;

/**
 * A send or receive buffer in a region of its own.
 *
 * @param bytes of the region
 * @param length how many bytes that are
 */
record StreamBuffer(MemoryRegion region, ByteBuffer bytes, int length) {
    static StreamBuffer of(MemoryRegion region, int length) {
        return new StreamBuffer(region, region.segment().asByteBuffer(), length);
    }
}
