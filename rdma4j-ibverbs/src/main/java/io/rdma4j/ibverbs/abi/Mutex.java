// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.ibverbs.abi;

import java.lang.foreign.Linker;

/**
 * {@code pthread_mutex_t} of a C library. Each structure has one at most, and a {@code pthread_cond_t}, if it has one, is
 * equally long everywhere.
 *
 * <p>Source: {@code bits/pthreadtypes-arch.h} of glibc; musl has 40 bytes on every processor of 64 bits.
 */
enum Mutex {
    /** Of x86-64, POWER, s390x and RISC-V, and of musl. */
    OF_40_BYTES(40),
    /** Of glibc on AArch64. */
    OF_48_BYTES(48);

    static final Mutex HERE = of(System.getProperty("os.arch", ""),
            Linker.nativeLinker().defaultLookup().find("gnu_get_libc_version").isPresent());

    private final long byteSize;

    Mutex(long byteSize) {
        this.byteSize = byteSize;
    }

    /**
     * {@return that of a processor}
     *
     * @param architecture as Java names it
     * @param isGlibc whether the C library is glibc
     */
    static Mutex of(String architecture, boolean isGlibc) {
        return isGlibc && architecture.equals("aarch64") ? OF_48_BYTES : OF_40_BYTES;
    }

    /** {@return the real offset of a field after a mutex, whose offset with a mutex of 40 bytes is given} */
    long behind(long offset) {
        return offset - OF_40_BYTES.byteSize + byteSize;
    }
}
