// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.benchmarks.service;

import java.util.ArrayList;
import java.util.List;
import java.util.Locale;

/**
 * The service, and how a client process uses it.
 *
 * @param isTcp whether the client uses TCP; a server of TCP alone does not open devices
 * @param shape the server's
 * @param work what clients do
 * @param isWildcard whether the server listens at all addresses
 * @param connections those of a client process, each used by a thread
 * @param isVirtual whether these threads are virtual
 * @param isSilent whether they connect and do nothing
 * @param seconds how long clients work, since they were started
 * @param warmSeconds the last part of it, in which latency and processor time count
 */
public record ServiceSettings(boolean isTcp, Shape shape, Work work, boolean isWildcard,
        int connections, boolean isVirtual, boolean isSilent, double seconds, double warmSeconds) {

    /** One connection, used by a platform thread. */
    public static ServiceSettings of(Shape shape, Work work, double seconds, double warmSeconds) {
        return new ServiceSettings(false, shape, work, false, 1, false, false, seconds,
                warmSeconds);
    }

    /** {@return the same over TCP} */
    public ServiceSettings overTcp() {
        return new ServiceSettings(true, shape, work, isWildcard, connections, isVirtual, isSilent,
                seconds, warmSeconds);
    }

    /** {@return the same with a server at all addresses} */
    public ServiceSettings atWildcard() {
        return new ServiceSettings(isTcp, shape, work, true, connections, isVirtual, isSilent,
                seconds, warmSeconds);
    }

    /** {@return the same with more connections for a client process} */
    public ServiceSettings withConnections(int count) {
        return new ServiceSettings(isTcp, shape, work, isWildcard, count, isVirtual, isSilent,
                seconds, warmSeconds);
    }

    /** {@return the same with clients that use virtual threads} */
    public ServiceSettings withVirtualClients() {
        return new ServiceSettings(isTcp, shape, work, isWildcard, connections, true, isSilent,
                seconds, warmSeconds);
    }

    /** {@return the same with clients that connect and do nothing} */
    public ServiceSettings withSilentClients() {
        return new ServiceSettings(isTcp, shape, work, isWildcard, connections, isVirtual, true,
                seconds, warmSeconds);
    }

    /** {@return the options of the command {@code service} that say the same} */
    public List<String> options() {
        List<String> options = new ArrayList<>(List.of(
                "--shape=" + shape.name().toLowerCase(Locale.ROOT),
                "--work=" + work.name().toLowerCase(Locale.ROOT), "--connections=" + connections,
                "--seconds=" + seconds, "--warm=" + warmSeconds));
        if (isTcp) {
            options.add("--tcp");
        }
        if (isWildcard) {
            options.add("--wildcard");
        }
        if (isVirtual) {
            options.add("--virtual");
        }
        if (isSilent) {
            options.add("--silent");
        }
        return options;
    }
}
