// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.benchmarks.ucx;

import io.rdma4j.benchmarks.workload.Control;
import io.rdma4j.benchmarks.workload.Figures;
import io.rdma4j.benchmarks.workload.PairedWorkload;
import io.rdma4j.benchmarks.workload.Quantity;
import io.rdma4j.benchmarks.workload.Settings;
import io.rdma4j.benchmarks.workload.Stretch;
import org.openucx.jucx.UcxCallback;
import org.openucx.jucx.ucp.UcpContext;
import org.openucx.jucx.ucp.UcpEndpoint;
import org.openucx.jucx.ucp.UcpEndpointParams;
import org.openucx.jucx.ucp.UcpMemory;
import org.openucx.jucx.ucp.UcpParams;
import org.openucx.jucx.ucp.UcpRemoteKey;
import org.openucx.jucx.ucp.UcpRequest;
import org.openucx.jucx.ucp.UcpWorker;
import org.openucx.jucx.ucp.UcpWorkerParams;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.function.IntConsumer;

/** Puts into the other process's memory, as many as go through; both sides drive their worker. */
public final class JucxPut implements PairedWorkload {
    /** Creates the workload. */
    public JucxPut() {}

    @Override
    public void serve(Settings settings, IntConsumer ready) throws Exception {
        ByteBuffer target = ByteBuffer.allocateDirect(settings.sizeBytes());
        try (Control control = Control.accept(ready);
                UcpContext context = new UcpContext(new UcpParams().requestRmaFeature());
                UcpWorker worker = context.newWorker(new UcpWorkerParams());
                UcpMemory memory = context.registerMemory(target)) {
            write(control, worker.getAddress());
            write(control, memory.getRemoteKeyBuffer());
            control.out().writeLong(memory.getAddress());
            Thread driver = Thread.currentThread();
            Thread.ofPlatform().daemon().start(() -> {
                try {
                    control.awaitEnd();
                } catch (IOException gone) {
                    // The other side has ended, one way or another.
                }
                driver.interrupt();
            });
            while (!Thread.currentThread().isInterrupted()) {
                worker.progress();
            }
        }
    }

    @Override
    public Figures drive(Settings settings, int port) throws Exception {
        ByteBuffer source = ByteBuffer.allocateDirect(settings.sizeBytes());
        try (Control control = Control.connect(port);
                UcpContext context = new UcpContext(new UcpParams().requestRmaFeature());
                UcpWorker worker = context.newWorker(new UcpWorkerParams());
                UcpMemory memory = context.registerMemory(source);
                UcpEndpoint endpoint = worker.newEndpoint(
                        new UcpEndpointParams().setUcpAddress(read(control)));
                UcpRemoteKey key = endpoint.unpackRemoteKey(read(control))) {
            long remote = control.in().readLong();
            Count count = new Count();
            Stretch stretch = new Stretch(settings);
            long posted = 0;
            while (stretch.goesOn(count.done)) {
                while (posted - count.done < settings.depth()) {
                    endpoint.putNonBlocking(memory.getAddress(), settings.sizeBytes(), remote, key,
                            count);
                    posted++;
                }
                worker.progress();
            }
            while (count.done < posted) {
                worker.progress();
            }
            return new Figures().with(Quantity.BYTES_PER_SECOND,
                    stretch.perSecond() * settings.sizeBytes());
        }
    }

    private static final class Count extends UcxCallback {
        private long done;

        @Override
        public void onSuccess(UcpRequest request) {
            done++;
        }
    }

    private static void write(Control control, ByteBuffer bytes) throws IOException {
        byte[] copy = new byte[bytes.remaining()];
        bytes.duplicate().get(copy);
        control.out().writeInt(copy.length);
        control.out().write(copy);
    }

    private static ByteBuffer read(Control control) throws IOException {
        byte[] bytes = control.in().readNBytes(control.in().readInt());
        return ByteBuffer.allocateDirect(bytes.length).put(bytes).flip();
    }
}
