package io.rdma4j.ibverbs.observe;

import io.rdma4j.verbs.Counter;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.EnumMap;
import java.util.EnumSet;
import java.util.Map;
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
    void namesOfTheRoceDriverAreThoseOfTheCounters() throws IOException {
        Map<Counter, Long> written = new EnumMap<>(Counter.class);
        for (Counter counter : EnumSet.range(Counter.SENT_PKTS, Counter.RDMA_RECVS)) {
            written.put(counter, 100L + written.size());
            write("ports/1/hw_counters/" + counter.text(), written.get(counter) + "\n");
        }
        written.forEach((counter, value) -> assertThat(counters().value(counter))
                .as(counter.text()).isEqualTo(value));
        assertThat(counters().value(Counter.SENT_BYTES)).isZero();
    }

    @Test
    void namesOfMellanoxCardsAndOfInfinibandAreUnderstood() throws IOException {
        write("ports/1/counters/port_xmit_packets", "11");
        write("ports/1/counters/port_rcv_packets", "12");
        write("ports/1/counters/port_xmit_data", "1000");
        write("ports/1/counters/port_rcv_data", "2000");
        write("ports/1/counters/link_downed", "13");
        write("ports/1/hw_counters/duplicate_request", "14");
        write("ports/1/hw_counters/out_of_sequence", "15");
        write("ports/1/hw_counters/rnr_nak_retry_err", "16");
        write("ports/1/hw_counters/packet_seq_err", "17");
        write("ports/1/hw_counters/req_transport_retries_exceeded", "18");
        write("ports/1/hw_counters/req_rnr_retries_exceeded", "19");
        write("ports/1/hw_counters/rp_cnp_ignored", "20");
        write("ports/1/hw_counters/rx_icrc_encapsulated", "21");
        assertThat(new Counter[]{Counter.SENT_PKTS, Counter.RCVD_PKTS, Counter.SENT_BYTES,
            Counter.RCVD_BYTES, Counter.LINK_DOWNED, Counter.DUPLICATE_REQUEST,
            Counter.OUT_OF_SEQ_REQUEST, Counter.RCVD_RNR_ERR, Counter.RCVD_SEQ_ERR,
            Counter.RETRY_EXCEEDED_ERR, Counter.RETRY_RNR_EXCEEDED_ERR, Counter.RP_CNP_IGNORED,
            Counter.DROPPED_BAD_ICRC}).extracting(counters()::value).containsExactly(11L, 12L,
                    4000L, 8000L, 13L, 14L, 15L, 16L, 17L, 18L, 19L, 20L, 21L);
        assertThat(counters().value(Counter.DROPPED_MALFORMED)).isZero();
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
        assertThat(counters().value(Counter.DUPLICATE_REQUEST)).isEqualTo(5);
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
        assertThat(counters().value(Counter.LINK_DOWNED)).isOne();
        assertThat(counters().value(Counter.SEND_ERR)).isEqualTo(5);
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
        assertThat(counters().value(Counter.SENT_PKTS)).isZero();
        assertThat(counters().value(Counter.RCVD_PKTS)).isZero();
        assertThat(counters().value(Counter.LINK_DOWNED)).isZero();
    }

    @Test
    void deviceThatHasGoneCountsNothing() {
        KernelCounters gone = new KernelCounters(folder.resolve("gone"));
        assertThat(gone.all()).isEmpty();
        for (Counter counter : Counter.values()) {
            assertThat(gone.value(counter)).isZero();
        }
    }

    @Test
    void portsThatAreNoFoldersCountNothing() throws IOException {
        write("ports", "what is this");
        write("hw_counters", "and this");
        assertThat(counters().all()).isEmpty();
        assertThat(counters().value(Counter.SENT_PKTS)).isZero();
    }
}
