// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.device;

import io.rdma4j.verbs.Gid;
import io.rdma4j.verbs.GidEntry;
import io.rdma4j.verbs.GidType;

/** What a device reports of an entry of a GID table. */
public record ReportedGid(Gid gid, int index, int port, int typeCode,
        int interfaceIndex) implements GidEntry {
    @Override
    public GidType type() {
        return GidType.ofCode(typeCode);
    }
}
