// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.observe;

import io.rdma4j.observe.jfr.FlightEvents;
import io.rdma4j.observe.jmx.DeviceMXBean;
import io.rdma4j.observe.jmx.QueuePairData;
import io.rdma4j.observe.registry.ShownDevice;
import io.rdma4j.verbs.AsyncEventType;
import io.rdma4j.verbs.QueuePairState;
import org.junit.jupiter.api.Test;

import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;

import static org.assertj.core.api.Assertions.assertThat;

/** A device works in a runtime without JMX and without Flight Recorder. */
class BareRuntimeTest {
    @Test
    void observingDoesNothingWithoutJmxAndWithoutTheRecorder() throws Exception {
        Process program = new ProcessBuilder(
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC", "--limit-modules", "java.base",
                "-cp", System.getProperty("java.class.path"), Program.class.getName())
                .redirectErrorStream(true).start();
        String said = new String(program.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        assertThat(program.waitFor()).as(said).isZero();
        assertThat(said).isEqualTo("modules: false false; shown and hidden\n");
    }

    /** Does what a device does. */
    static final class Program implements DeviceMXBean {
        public static void main(String[] arguments) {
            FlightEvents.prepare();
            ShownDevice shown = ShownDevice.show(new Program());
            FlightEvents.queuePairState("bare0", 1, QueuePairState.RESET, QueuePairState.INIT,
                    "MODIFY");
            FlightEvents.asyncEvent("bare0", AsyncEventType.PORT_ERROR, 0, 1);
            shown.hide();
            FlightEvents.forget();
            System.out.print("modules: " + isThere("java.management") + " " + isThere("jdk.jfr")
                    + "; " + (FlightEvents.recordsConnections() ? "recorded" : "shown and hidden")
                    + "\n");
        }

        private static boolean isThere(String module) {
            return ModuleLayer.boot().findModule(module).isPresent();
        }

        @Override
        public String getName() {
            return "bare0";
        }

        @Override
        public List<String> getGids() {
            return List.of();
        }

        @Override
        public int getContexts() {
            return 1;
        }

        @Override
        public Map<String, Long> getCounters() {
            return Map.of();
        }

        @Override
        public int getQueuePairCount() {
            return 0;
        }

        @Override
        public List<QueuePairData> getQueuePairs() {
            return List.of();
        }
    }
}
