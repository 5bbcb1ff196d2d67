// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.ibverbs.observe;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Objects;

import static org.assertj.core.api.Assertions.assertThat;

/** The kernel's counters, from files that stand for its own. */
class KernelCountersTest {
    @TempDir
    private Path folder = Path.of("");

    private void write(String file, String text) throws IOException {
        Path path = folder.resolve(file);
        Files.createDirectories(Objects.requireNonNull(path.getParent()));
        Files.writeString(path, text);
    }

    private KernelCounters counters() {
        return new KernelCounters(folder);
    }

    @Test
    void everythingIsThereByTheKernelsNamesAndInItsUnits() throws IOException {
        write("ports/1/hw_counters/out_of_buffer", "7");
        write("ports/1/hw_counters/lifespan", "10");
        write("ports/1/counters/port_xmit_data", "1000");
        write("hw_counters/cm_tx_retries", "3");
        assertThat(counters().all()).hasToString(
                "{cm_tx_retries=3, out_of_buffer=7, port_xmit_data=1000}");
    }

    @Test
    void portsAreAddedUp() throws IOException {
        write("ports/1/hw_counters/duplicate_request", "2");
        write("ports/2/hw_counters/duplicate_request", "3");
        assertThat(counters().all()).hasToString("{duplicate_request=5}");
    }

    @Test
    void driversOwnCountGoesBeforeThatOfThePortAndThatBeforeTheDevices() throws IOException {
        write("ports/1/hw_counters/link_downed", "1");
        write("ports/1/counters/link_downed", "2");
        write("ports/1/counters/symbol_error", "3");
        write("hw_counters/symbol_error", "4");
        write("hw_counters/send_err", "5");
        assertThat(counters().all()).hasToString("{link_downed=1, send_err=5, symbol_error=3}");
    }

    @Test
    void whatIsNoNumberOrCannotBeReadCountsForNothing() throws IOException {
        write("ports/1/counters/port_xmit_packets", "N/A (no PMA)\n");
        write("ports/1/counters/port_rcv_packets", "");
        write("ports/1/counters/link_downed", "99999999999999999999");
        write("ports/1/counters/VL15_dropped", "6");
        Files.createDirectories(folder.resolve("ports/1/counters/symbol_error"));
        Files.createSymbolicLink(folder.resolve("ports/1/counters/port_rcv_errors"),
                folder.resolve("went away"));
        assertThat(counters().all()).hasToString("{VL15_dropped=6}");
    }

    @Test
    void deviceThatHasGoneCountsNothing() {
        KernelCounters gone = new KernelCounters(folder.resolve("gone"));
        assertThat(gone.all()).isEmpty();
    }

    @Test
    void portsThatAreNoFoldersCountNothing() throws IOException {
        write("ports", "what is this");
        write("hw_counters", "and this");
        assertThat(counters().all()).isEmpty();
    }
}
