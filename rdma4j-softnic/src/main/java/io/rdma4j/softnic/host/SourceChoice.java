// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.softnic.host;

import org.jspecify.annotations.Nullable;

import java.io.IOException;

/** Takes the source that is told of changes, where it works. */
final class SourceChoice {
    private static final System.Logger LOG = System.getLogger(HostSource.class.getName());

    private SourceChoice() {}

    /** Opens a source. */
    interface Opening {
        HostSource open() throws IOException;
    }

    /**
     * {@return the source that reports changes; if it does not work here, the one that looks once a second}
     *
     * @param obstacle why the first is not even tried, null if it is
     * @param reporting opens the first
     */
    static HostSource of(@Nullable String obstacle, Opening reporting) {
        String reason = obstacle;
        if (reason == null) {
            try {
                return looking(reporting.open());
            } catch (IOException | LinkageError e) {
                reason = e.getMessage();
            }
        }
        LOG.log(System.Logger.Level.DEBUG, "network interfaces are looked at once a second: {0}",
                reason);
        return new InterfaceSource();
    }

    /** A filter of system calls may let a source be opened and refuse every look. */
    private static HostSource looking(HostSource source) throws IOException {
        try {
            source.look();
            return source;
        } catch (IOException e) {
            source.close();
            throw e;
        }
    }
}
