// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.softnic.device;

import io.rdma4j.softnic.options.NetworkBackend;
import io.rdma4j.verbs.RdmaException;
import org.jspecify.annotations.Nullable;

/**
 * Which network serves a device.
 *
 * @param kind the one that does, never {@link NetworkBackend#AUTO}
 * @param reason why this one, for people
 */
public record BackendChoice(NetworkBackend kind, String reason) {
    /**
     * {@return the network to use for the wanted back-end}
     *
     * @param obstacle why {@link NetworkBackend#LINUX} does not work here, null if it does
     * @param advantage why it is preferred where it works, as text for people
     * @throws RdmaException EOPNOTSUPP, with the reason, if the wanted back-end does not work here
     */
    public static BackendChoice of(NetworkBackend wanted, @Nullable String obstacle,
            String advantage) throws RdmaException {
        if (wanted == NetworkBackend.PORTABLE) {
            return new BackendChoice(NetworkBackend.PORTABLE, "asked for");
        }
        if (obstacle == null) {
            return new BackendChoice(NetworkBackend.LINUX, advantage);
        }
        if (wanted == NetworkBackend.LINUX) {
            throw RdmaException.unsupported("open device",
                    "the network linux does not work: " + obstacle);
        }
        return new BackendChoice(NetworkBackend.PORTABLE, obstacle);
    }

    @Override
    public String toString() {
        return kind.text() + " (" + reason + ")";
    }
}
