// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.benchmarks.aeron;

import io.aeron.Aeron;
import io.aeron.Publication;
import io.aeron.Subscription;
import io.aeron.driver.MediaDriver;
import io.aeron.driver.ThreadingMode;
import io.rdma4j.benchmarks.workload.Control;
import org.agrona.concurrent.AgentInvoker;
import org.jspecify.annotations.Nullable;

import java.io.IOException;
import java.net.DatagramSocket;
import java.net.InetAddress;
import java.net.InetSocketAddress;

/** A client with a publication to the peer and a subscription, and the media driver that one thread drives with it. */
final class AeronSide implements AutoCloseable {
    /** Aeron's largest over UDP. */
    private static final int LARGEST_MTU = 65504;

    private static final int STREAM = 1001;
    private static final int TERM_LENGTH = 16 << 20;
    /** As much as an ordinary system gives without asking. */
    private static final int SOCKET_BUFFER = 2 << 20;
    private static final String IN_MEMORY = "aeron:ipc";

    /** Null on the side that uses the driver of the other. */
    private final @Nullable MediaDriver driver;
    private final @Nullable AgentInvoker driverInvoker;
    private final Aeron aeron;
    private final AgentInvoker clientInvoker;
    private final Publication publication;
    private final Subscription subscription;

    /** How the two sides reach each other. */
    interface Way {
        /** {@return a side that is connected to the other, to which the control leads} */
        AeronSide open(Control control, boolean isServer) throws IOException;
    }

    /** Over UDP with Aeron's default MTU. */
    static AeronSide overUdp(Control control, boolean isServer) throws IOException {
        return overUdp(control, 0);
    }

    /** Over UDP with the largest datagrams. */
    static AeronSide overUdpOfLargestMtu(Control control, boolean isServer) throws IOException {
        return overUdp(control, LARGEST_MTU);
    }

    private static AeronSide overUdp(Control control, int mtu) throws IOException {
        MediaDriver.Context context = context();
        if (mtu > 0) {
            context.mtuLength(mtu);
        }
        MediaDriver driver = MediaDriver.launchEmbedded(context);
        int own = freePort();
        control.out().writeInt(own);
        int peer = control.in().readInt();
        return new AeronSide(control, driver, connect(driver), channel(own), STREAM,
                channel(peer), STREAM);
    }

    /** Through memory, with one driver, which the server drives. */
    static AeronSide inMemory(Control control, boolean isServer) throws IOException {
        if (isServer) {
            MediaDriver driver = MediaDriver
                    .launchEmbedded(context().ipcTermBufferLength(TERM_LENGTH));
            control.out().writeUTF(driver.aeronDirectoryName());
            // The client needs the driver to become one.
            while (control.in().available() == 0) {
                driver.sharedAgentInvoker().invoke();
            }
            control.in().readByte();
            return new AeronSide(control, driver, connect(driver), IN_MEMORY, STREAM, IN_MEMORY,
                    STREAM + 1);
        }
        Aeron aeron = Aeron.connect(new Aeron.Context()
                .aeronDirectoryName(control.in().readUTF()).useConductorAgentInvoker(true));
        try {
            Subscription subscription = aeron.addSubscription(IN_MEMORY, STREAM + 1);
            Publication publication = aeron.addPublication(IN_MEMORY, STREAM);
            control.out().writeByte('.');
            return new AeronSide(control, null, aeron, subscription, publication);
        } catch (IOException | RuntimeException e) {
            aeron.close();
            throw e;
        }
    }

    private static MediaDriver.Context context() {
        return new MediaDriver.Context().threadingMode(ThreadingMode.INVOKER)
                .dirDeleteOnStart(true).dirDeleteOnShutdown(true)
                .publicationTermBufferLength(TERM_LENGTH).socketSndbufLength(SOCKET_BUFFER)
                .socketRcvbufLength(SOCKET_BUFFER).initialWindowLength(SOCKET_BUFFER);
    }

    private static Aeron connect(MediaDriver driver) {
        return Aeron.connect(new Aeron.Context().aeronDirectoryName(driver.aeronDirectoryName())
                .useConductorAgentInvoker(true)
                .driverAgentInvoker(driver.sharedAgentInvoker()));
    }

    private AeronSide(Control control, MediaDriver driver, Aeron aeron, String from, int fromStream,
            String to, int toStream) throws IOException {
        this(control, driver, aeron, aeron.addSubscription(from, fromStream),
                aeron.addPublication(to, toStream));
    }

    private AeronSide(Control control, @Nullable MediaDriver driver, Aeron aeron,
            Subscription subscription, Publication publication) throws IOException {
        this.driver = driver;
        driverInvoker = driver == null ? null : driver.sharedAgentInvoker();
        this.aeron = aeron;
        clientInvoker = aeron.conductorAgentInvoker();
        this.subscription = subscription;
        this.publication = publication;
        while (!publication.isConnected() || !subscription.isConnected()) {
            work();
        }
        // The peer may still need this side's driver for its own last step.
        control.out().writeByte('.');
        while (control.in().available() == 0) {
            work();
        }
        if (control.in().read() < 0) {
            throw new IOException("the other side has gone");
        }
    }

    private static int freePort() throws IOException {
        try (DatagramSocket socket = new DatagramSocket(
                new InetSocketAddress(InetAddress.getLoopbackAddress(), 0))) {
            return socket.getLocalPort();
        }
    }

    private static String channel(int port) {
        return "aeron:udp?endpoint=127.0.0.1:" + port;
    }

    Publication publication() {
        return publication;
    }

    Subscription subscription() {
        return subscription;
    }

    /** Lets the driver send and receive. */
    void work() {
        workFast();
        clientInvoker.invoke();
    }

    /** Lets the driver send and receive, when the client has nothing to ask of it. */
    void workFast() {
        if (driverInvoker != null) {
            driverInvoker.invoke();
        }
    }

    @Override
    public void close() {
        aeron.close();
        if (driver != null) {
            driver.close();
        }
    }
}
