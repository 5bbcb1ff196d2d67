// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.tools.demo;

import io.rdma4j.cm.CmId;
import io.rdma4j.connection.ConnectionParameters;
import io.rdma4j.connection.PortSpace;
import io.rdma4j.tools.demo.DemoLink.Message;
import io.rdma4j.tools.demo.DemoLink.Received;
import io.rdma4j.verbs.AccessFlag;
import io.rdma4j.verbs.MemoryRegion;
import io.rdma4j.verbs.RdmaException;
import io.rdma4j.verbs.SendFlag;
import org.jspecify.annotations.Nullable;

import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.net.InetSocketAddress;
import java.nio.channels.FileChannel;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.security.MessageDigest;
import java.time.Duration;
import java.util.SplittableRandom;

/** The client of the demo: connects, and moves data by every kind of operation. */
final class DemoClient {
    /** Bytes that the classic steps move. */
    static final int BLOCK = 1 << 20;

    private static final int IMMEDIATE = 0xcafe_f00d;
    private static final Duration TIMEOUT = Duration.ofSeconds(2);
    private static final long PROGRESS_NS = 100_000_000;

    private final Reporter reporter;

    DemoClient(Reporter reporter) {
        this.reporter = reporter;
    }

    /**
     * Does its part with a server.
     *
     * @param device the name of the one to use
     * @param file what to send, null for the classic steps
     */
    void run(String device, InetSocketAddress server, @Nullable Path file) throws IOException {
        try (CmId id = CmId.create(PortSpace.TCP)) {
            id.device(device);
            id.resolveAddress(server, TIMEOUT);
            reporter.step("address resolved: device %s, %s", id.context().device().name(),
                    DemoSide.display(id.localAddress()));
            id.resolveRoute(TIMEOUT);
            reporter.step("route resolved, path MTU %d",
                    id.context().queryPort(1).activeMtu().bytes());
            try (DemoLink link = new DemoLink(id)) {
                id.connect(new ConnectionParameters());
                reporter.step("established, queue pair 0x%06x", id.queuePair().number());
                link.send(Message.HELLO, 0, 0, 0, DemoSide.hello("client"));
                reporter.step("SEND \"%s\"", DemoSide.hello("client"));
                reporter.step("received by SEND: \"%s\"", link.receive(Message.HELLO).text());
                Received region = link.receive(Message.REGION);
                reporter.step("received address 0x%x and rkey 0x%08x", region.number(),
                        region.rkey());
                if (file == null) {
                    classicSteps(link, region);
                } else {
                    sendFile(link, region, file);
                }
                id.disconnect();
                reporter.step("disconnected");
                link.reportFigures(reporter);
            }
        }
    }

    private void classicSteps(DemoLink link, Received peer) throws RdmaException {
        CmId id = link.id();
        MemorySegment source = link.arena().allocate(BLOCK, 64);
        MemorySegment copy = link.arena().allocate(BLOCK, 64);
        SplittableRandom random = new SplittableRandom();
        for (long i = 0; i < BLOCK; i += Long.BYTES) {
            source.set(ValueLayout.JAVA_LONG, i, random.nextLong());
        }
        try (MemoryRegion from = id.protectionDomain().register(source);
                MemoryRegion to = id.protectionDomain().register(copy, AccessFlag.LOCAL_WRITE)) {
            long startNs = System.nanoTime();
            id.postWrite(1, from, 0, BLOCK, peer.number(), peer.rkey(), SendFlag.SIGNALED);
            link.awaitSend();
            done("WRITE", BLOCK, startNs);

            startNs = System.nanoTime();
            id.postRead(2, to, 0, BLOCK, peer.number(), peer.rkey(), SendFlag.SIGNALED);
            link.awaitSend();
            done("READ", BLOCK, startNs);
            reporter.check(copy.mismatch(source) == -1, "what was READ equals what was written");

            startNs = System.nanoTime();
            link.write(from, 0, BLOCK / 2, peer.number(), peer.rkey(), IMMEDIATE);
            link.awaitSend();
            done(link.writing(), BLOCK / 2, startNs);

            MessageDigest digest = DemoSide.sha256();
            digest.update(source.asByteBuffer());
            String sent = DemoSide.hex(digest);
            link.send(Message.DONE, BLOCK, 0, 0, sent);
            reporter.step("sent done message with the digest of what was sent");
            reporter.check(link.receive(Message.DONE).text().equals(sent),
                    "the server's digest equals the client's");
        }
        reporter.figure("payload", 2 * BLOCK + BLOCK / 2);
    }

    private void done(String operation, long bytes, long startNs) {
        double seconds = (System.nanoTime() - startNs) / 1e9;
        reporter.step("%s of %,d bytes done in %.2f ms", operation, bytes, seconds * 1e3);
    }

    /** The file is mapped and registered as it is: the device reads it, nobody copies it. */
    private void sendFile(DemoLink link, Received peer, Path path) throws IOException {
        MessageDigest digest = DemoSide.sha256();
        long startNs = System.nanoTime();
        long size;
        try (FileChannel file = FileChannel.open(path, StandardOpenOption.READ);
                Arena mapping = Arena.ofShared()) {
            size = file.size();
            if (size > 0) {
                MemorySegment bytes = file.map(FileChannel.MapMode.READ_ONLY, 0, size, mapping);
                try (MemoryRegion region = link.id().protectionDomain().register(bytes)) {
                    reporter.step("registered %s, %,d bytes", path.getFileName(), size);
                    writeChunks(link, peer, region, digest);
                }
            }
        }
        double seconds = (System.nanoTime() - startNs) / 1e9;
        reporter.step("WRITE of %,d bytes done in %.2f s, %.2f GB/s with SHA-256 on both sides",
                size,
                seconds, size / seconds / 1e9);
        writeEnd(link, peer);
        String sent = DemoSide.hex(digest);
        link.send(Message.DONE, size, 0, 0, sent);
        reporter.step("sent done message with SHA-256 %s", sent);
        reporter.check(link.receive(Message.DONE).text().equals(sent),
                "the server's SHA-256 equals the client's");
        reporter.figure("payload", size);
    }

    /** Writes each chunk into its slot once the server has taken what was there before. */
    private void writeChunks(DemoLink link, Received peer, MemoryRegion region,
            MessageDigest digest) throws RdmaException {
        long size = region.length();
        long chunks = (size + DemoLink.CHUNK - 1) / DemoLink.CHUNK;
        long taken = 0;
        long written = 0;
        long nextReportNs = 0;
        for (long chunk = 0; chunk < chunks; chunk++) {
            if (chunk - taken == DemoLink.SLOTS) {
                link.receive(Message.TAKEN);
                taken++;
            }
            long offset = chunk * DemoLink.CHUNK;
            int length = (int) Math.min(DemoLink.CHUNK, size - offset);
            long slot = peer.number() + chunk % DemoLink.SLOTS * DemoLink.CHUNK;
            link.write(region, offset, length, slot, peer.rkey(), length);
            digest.update(region.segment().asSlice(offset, length).asByteBuffer());
            if (chunk - written == DemoLink.SLOTS / 2) {
                link.awaitSend();
                written++;
            }
            if (System.nanoTime() > nextReportNs || chunk + 1 == chunks) {
                reporter.progress(offset + length, size);
                nextReportNs = System.nanoTime() + PROGRESS_NS;
            }
        }
        for (; written < chunks; written++) {
            link.awaitSend();
        }
        while (taken < chunks) {
            link.receive(Message.TAKEN);
            taken++;
        }
    }

    /** The number 0 ends the file. */
    private static void writeEnd(DemoLink link, Received peer) throws RdmaException {
        link.writeNothing(peer.number(), peer.rkey(), 0);
        link.awaitSend();
    }
}
