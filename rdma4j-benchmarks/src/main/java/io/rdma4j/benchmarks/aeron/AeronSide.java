package io.rdma4j.benchmarks.aeron;

import io.aeron.Aeron;
import io.aeron.Publication;
import io.aeron.Subscription;
import io.aeron.driver.MediaDriver;
import io.aeron.driver.ThreadingMode;
import io.rdma4j.benchmarks.workload.Control;
import org.agrona.concurrent.AgentInvoker;

import java.io.IOException;
import java.net.DatagramSocket;
import java.net.InetAddress;
import java.net.InetSocketAddress;

/** A media driver and a client that one thread drives, a publication to the peer and a subscription. */
final class AeronSide implements AutoCloseable {
    /** Aeron's largest over UDP. */
    static final int LARGEST_MTU = 65504;

    private static final int STREAM = 1001;
    private static final int TERM_LENGTH = 16 << 20;
    /** As much as an ordinary system gives without asking. */
    private static final int SOCKET_BUFFER = 2 << 20;

    private final MediaDriver driver;
    private final Aeron aeron;
    private final AgentInvoker driverInvoker;
    private final AgentInvoker clientInvoker;
    private final Publication publication;
    private final Subscription subscription;

    /** @param mtu bytes of a datagram, or 0 for Aeron's default */
    AeronSide(Control control, int mtu) throws IOException {
        MediaDriver.Context context = new MediaDriver.Context()
                .threadingMode(ThreadingMode.INVOKER).dirDeleteOnStart(true)
                .dirDeleteOnShutdown(true).publicationTermBufferLength(TERM_LENGTH)
                .socketSndbufLength(SOCKET_BUFFER).socketRcvbufLength(SOCKET_BUFFER)
                .initialWindowLength(SOCKET_BUFFER);
        if (mtu > 0) {
            context.mtuLength(mtu);
        }
        driver = MediaDriver.launchEmbedded(context);
        driverInvoker = driver.sharedAgentInvoker();
        aeron = Aeron.connect(new Aeron.Context().aeronDirectoryName(driver.aeronDirectoryName())
                .useConductorAgentInvoker(true).driverAgentInvoker(driverInvoker));
        clientInvoker = aeron.conductorAgentInvoker();
        int own = freePort();
        control.out().writeInt(own);
        int peer = control.in().readInt();
        subscription = aeron.addSubscription(channel(own), STREAM);
        publication = aeron.addPublication(channel(peer), STREAM);
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
        driverInvoker.invoke();
        clientInvoker.invoke();
    }

    /** Lets the driver send and receive, when the client has nothing to ask of it. */
    void workFast() {
        driverInvoker.invoke();
    }

    @Override
    public void close() {
        aeron.close();
        driver.close();
    }
}
