// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.softnic.host;

import java.util.List;
import java.util.Optional;

/**
 * The network interfaces of this machine at one moment.
 *
 * @param interfaces all of them, in the order of their numbers
 */
public record Host(List<HostInterface> interfaces) {
    public Host {
        interfaces = List.copyOf(interfaces);
    }

    /** {@return the interface of a name} */
    public Optional<HostInterface> named(String name) {
        return interfaces.stream().filter(each -> each.name().equals(name)).findFirst();
    }
}
