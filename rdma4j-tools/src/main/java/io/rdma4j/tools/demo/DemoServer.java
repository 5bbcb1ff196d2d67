// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.tools.demo;

import io.rdma4j.cm.CmId;
import io.rdma4j.connection.ConnectionParameters;
import io.rdma4j.connection.PortSpace;
import io.rdma4j.tools.demo.DemoLink.Message;
import io.rdma4j.tools.demo.DemoLink.Received;
import io.rdma4j.tools.demo.DemoLink.Written;
import io.rdma4j.verbs.AccessFlag;
import io.rdma4j.verbs.Errno;
import io.rdma4j.verbs.MemoryRegion;
import io.rdma4j.verbs.RdmaDevices;
import io.rdma4j.verbs.RdmaException;
import org.jspecify.annotations.Nullable;

import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.net.Inet4Address;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.security.MessageDigest;
import java.util.List;
import java.util.stream.Collectors;

/** The server of the demo: offers memory, receives data in it, and reports a digest of the data. */
final class DemoServer {
    private final Reporter reporter;

    DemoServer(Reporter reporter) {
        this.reporter = reporter;
    }

    /**
     * Serves one client.
     *
     * @param device the name of the one to use
     * @param isFile whether a file comes, in chunks, instead of the classic steps
     * @param output where the file is stored, null for nowhere
     */
    void run(String device, boolean isFile, @Nullable Path output) throws IOException {
        try (CmId listener = CmId.create(PortSpace.TCP)) {
            listener.device(device);
            listener.bindAddress(new InetSocketAddress(0));
            listener.listen(1);
            InetSocketAddress reached = reached(listener);
            reporter.step("listening on %s port %d", DemoSide.display(reached),
                    reached.getPort());
            reporter.listening(DemoSide.display(reached), reached.getPort());
            try (CmId id = listener.awaitRequest(); DemoLink link = new DemoLink(id)) {
                reporter.step("connection request from %s port %d",
                        DemoSide.display(id.peerAddress()), id.peerPort());
                id.accept(new ConnectionParameters());
                reporter.step("established, queue pair 0x%06x", id.queuePair().number());
                int size = isFile ? DemoLink.SLOTS * DemoLink.CHUNK : DemoClient.BLOCK;
                MemorySegment memory = link.arena().allocate(size, 4096);
                try (MemoryRegion region = id.protectionDomain().register(memory,
                        AccessFlag.LOCAL_WRITE, AccessFlag.REMOTE_WRITE, AccessFlag.REMOTE_READ)) {
                    greet(link);
                    link.send(Message.REGION, region.address(), region.length(), region.rkey(), "");
                    reporter.step("sent address 0x%x and rkey 0x%08x of %d bytes", region.address(),
                            region.rkey(), region.length());
                    if (isFile) {
                        receiveFile(link, memory, output);
                    } else {
                        classicSteps(link, memory);
                    }
                }
                link.awaitEnd();
                id.disconnect();
                reporter.step("disconnected");
                link.reportFigures(reporter);
            }
        }
    }

    /** {@return where clients find a listener: an IPv4 address, which is short, if there is one} */
    private static InetSocketAddress reached(CmId listener) throws RdmaException {
        List<InetSocketAddress> all = listener.listenAddresses();
        return all.stream().filter(each -> each.getAddress() instanceof Inet4Address).findFirst()
                .or(() -> all.stream().findFirst())
                .orElseThrow(() -> new RdmaException(Errno.EADDRNOTAVAIL, "demo",
                        "no device to listen on has an address" + absent()));
    }

    /** {@return which devices are missing, and why} */
    private static String absent() {
        return RdmaDevices.absent().stream().map(each -> each.name() + ": " + each.reason())
                .collect(Collectors.joining(", ", " (", ")")).replace(" ()", "");
    }

    private void greet(DemoLink link) throws RdmaException {
        reporter.step("received by SEND: \"%s\"", link.receive(Message.HELLO).text());
        link.send(Message.HELLO, 0, 0, 0, DemoSide.hello("server"));
        reporter.step("SEND \"%s\"", DemoSide.hello("server"));
    }

    private void classicSteps(DemoLink link, MemorySegment memory) throws IOException {
        Written written = link.awaitWritten();
        reporter.step("woken by %s: %d bytes, immediate 0x%08x", link.writing(), written.length(),
                written.number());
        Received done = link.receive(Message.DONE);
        MessageDigest digest = DemoSide.sha256();
        digest.update(memory.asByteBuffer());
        String arrived = DemoSide.hex(digest);
        reporter.check(arrived.equals(done.text()), "the server's memory equals what was sent");
        link.send(Message.DONE, memory.byteSize(), 0, 0, arrived);
        reporter.step("sent done message with the digest of what arrived");
    }

    /** Chunks arrive in the slots in turn, each announced by a number: its length. */
    private void receiveFile(DemoLink link, MemorySegment memory, @Nullable Path output)
            throws IOException {
        MessageDigest digest = DemoSide.sha256();
        long total = 0;
        try (StoredCopy copy = output == null ? null : new StoredCopy(output)) {
            for (long chunk = 0;; chunk++) {
                int length = link.awaitWritten().number();
                if (length == 0) {
                    break;
                }
                ByteBuffer bytes = memory
                        .asSlice(chunk % DemoLink.SLOTS * DemoLink.CHUNK, length).asByteBuffer();
                digest.update(bytes.duplicate());
                if (copy != null) {
                    copy.append(bytes);
                }
                total += length;
                link.send(Message.TAKEN, chunk, 0, 0, "");
            }
            reporter.step("%,d bytes have arrived", total);
            Received done = link.receive(Message.DONE);
            String arrived = DemoSide.hex(digest);
            boolean isSame = arrived.equals(done.text()) && total == done.number();
            reporter.check(isSame, "SHA-256 of what arrived equals that of the file: " + arrived);
            if (copy != null && isSame) {
                copy.complete();
            }
            link.send(Message.DONE, total, 0, 0, arrived);
        }
        reporter.step("sent done message");
    }
}
