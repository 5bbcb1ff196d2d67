// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.examples.spark;

import org.apache.spark.api.plugin.DriverPlugin;
import org.apache.spark.api.plugin.ExecutorPlugin;
import org.apache.spark.api.plugin.PluginContext;
import org.apache.spark.api.plugin.SparkPlugin;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.management.ManagementFactory;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.Map;
import javax.management.JMException;
import javax.management.MBeanServer;
import javax.management.ObjectName;
import javax.management.openmbean.CompositeData;
import javax.management.openmbean.TabularData;

/** What looks on: has each executor write down, at the end of each task, how many bytes its devices of rdma4j have received. */
public final class DeviceCounters implements SparkPlugin {
    /** Spark hands only settings that begin so to executors. */
    static final String DIRECTORY = "spark.counters.directory";

    @Override
    public DriverPlugin driverPlugin() {
        return null;
    }

    @Override
    public ExecutorPlugin executorPlugin() {
        return new OfExecutor();
    }

    private static final class OfExecutor implements ExecutorPlugin {
        private Path file;

        @Override
        public void init(PluginContext context, Map<String, String> configuration) {
            file = Path.of(context.conf().get(DIRECTORY)).resolve(context.executorID());
            // From now on devices appear there.
            ManagementFactory.getPlatformMBeanServer();
        }

        /** Called before the driver learns of it. */
        @Override
        public synchronized void onTaskSucceeded() {
            try {
                Path written = Files.writeString(file.resolveSibling(file.getFileName() + ".new"),
                        Long.toString(receivedBytes()));
                Files.move(written, file, StandardCopyOption.ATOMIC_MOVE);
            } catch (IOException e) {
                throw new UncheckedIOException(e);
            }
        }
    }

    private static long receivedBytes() {
        MBeanServer server = ManagementFactory.getPlatformMBeanServer();
        long sum = 0;
        try {
            for (ObjectName each : server.queryNames(new ObjectName("io.rdma4j:type=Device,*"),
                    null)) {
                TabularData counters = (TabularData) server.getAttribute(each, "Counters");
                CompositeData row = counters.get(new Object[]{"rcvd_bytes"});
                sum += row == null ? 0 : (Long) row.get("value");
            }
        } catch (JMException e) {
            throw new IllegalStateException("the counters of a device cannot be read", e);
        }
        return sum;
    }
}
