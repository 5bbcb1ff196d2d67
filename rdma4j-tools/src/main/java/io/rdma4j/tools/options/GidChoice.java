package io.rdma4j.tools.options;

import io.rdma4j.verbs.DeviceContext;
import io.rdma4j.verbs.Gid;
import io.rdma4j.verbs.GidEntry;
import org.jspecify.annotations.Nullable;

import java.io.IOException;
import java.util.List;

/** Which local GID a tool uses. */
public final class GidChoice {
    private GidChoice() {}

    /**
     * {@return the index of a port's GID: the chosen one, or the first of IPv4, or the first} RoCE has no address
     * without one, so there is a default.
     *
     * @throws IOException if there is no such port, or nothing at that index
     */
    public static int index(DeviceContext context, int port, @Nullable Long chosen)
            throws IOException {
        context.queryPort(port); // Refuses a port there is not.
        if (chosen != null) {
            int index = chosen.intValue();
            Gid gid = context.queryGid(port, index);
            if (gid.isZero()) {
                throw new IOException("GID index " + index + " of " + context.device().name()
                        + " is empty; show_gids lists the others");
            }
            return index;
        }
        List<GidEntry> table = context.queryGidTable().stream()
                .filter(entry -> entry.port() == port).toList();
        return table.stream().filter(entry -> entry.gid().isIpv4()).findFirst()
                .or(() -> table.stream().findFirst())
                .orElseThrow(() -> new IOException(context.device().name() + " has no GID"))
                .index();
    }
}
