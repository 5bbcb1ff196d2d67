// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.sockets.programs;

import java.lang.management.ManagementFactory;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.rmi.Remote;
import java.rmi.RemoteException;
import java.rmi.server.UnicastRemoteObject;

import javax.management.remote.JMXConnector;
import javax.management.remote.JMXConnectorFactory;
import javax.management.remote.JMXConnectorServer;
import javax.management.remote.JMXConnectorServerFactory;
import javax.management.remote.JMXServiceURL;

/** Is observed by RMI, as other processes do, and has a remote object with a factory of its own; it knows nothing of RDMA. */
public final class JmxProgram {
    private JmxProgram() {}

    /** Is asked from outside. */
    public interface Answer extends Remote {
        /** {@return the answer} */
        int get() throws RemoteException;
    }

    /** @param arguments none */
    // It connects to itself.
    @SuppressWarnings("BanJNDI")
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
        Answer answer = () -> 42;
        Answer remote = (Answer) UnicastRemoteObject.exportObject(answer, 0, null,
                port -> new ServerSocket(port, 0, InetAddress.getLoopbackAddress()));
        System.out.println("answer " + remote.get());
        boolean _ = UnicastRemoteObject.unexportObject(answer, true);
    }
}
