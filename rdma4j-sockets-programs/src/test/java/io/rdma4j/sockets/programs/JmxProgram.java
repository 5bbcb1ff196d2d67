// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.sockets.programs;

import java.lang.management.ManagementFactory;

import javax.management.remote.JMXConnector;
import javax.management.remote.JMXConnectorFactory;
import javax.management.remote.JMXConnectorServer;
import javax.management.remote.JMXConnectorServerFactory;
import javax.management.remote.JMXServiceURL;

/** Is observed by RMI, as other processes do; it knows nothing of RDMA. */
public final class JmxProgram {
    private JmxProgram() {}

    /** @param arguments none */
    public static void main(String[] arguments) throws Exception {
        JMXConnectorServer server = JMXConnectorServerFactory.newJMXConnectorServer(
                new JMXServiceURL("service:jmx:rmi://"), null,
                ManagementFactory.getPlatformMBeanServer());
        server.start();
        try (JMXConnector observer = JMXConnectorFactory.connect(server.getAddress())) {
            System.out.println("beans "
                    + (observer.getMBeanServerConnection().getMBeanCount() > 0));
        } finally {
            server.stop();
        }
    }
}
