// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.testkit;

import jdk.jfr.Recording;
import jdk.jfr.RecordingState;
import jdk.jfr.consumer.RecordedEvent;
import jdk.jfr.consumer.RecordingFile;

import java.io.IOException;
import java.net.InetSocketAddress;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/** A recording of Java Flight Recorder, from its creation until it is read. For one thread. */
public final class FlightRecording implements AutoCloseable {
    private final Recording recording = new Recording();

    /** Begins to record. */
    public FlightRecording() {
        recording.start();
    }

    /** Ends it. */
    public void stop() {
        if (recording.getState() == RecordingState.RUNNING) {
            recording.stop();
        }
    }

    /**
     * {@return the events of a kind in the order of time, each as its values in the order of the fields, with spaces
     * between} Ends the recording; may be called for several kinds.
     *
     * @param directory where to put the file of the recording
     * @param kind the event's name without {@code io.rdma4j.}
     * @param fields the names of the values
     */
    public List<String> events(Path directory, String kind, String... fields) throws IOException {
        stop();
        Path file = directory.resolve(kind + ".jfr");
        recording.dump(file);
        List<RecordedEvent> recorded = new ArrayList<>(RecordingFile.readAllEvents(file));
        // Each thread has written its own.
        recorded.sort(Comparator.comparing(RecordedEvent::getStartTime));
        return recorded.stream()
                .filter(event -> event.getEventType().getName().equals("io.rdma4j." + kind))
                .map(event -> values(event, fields)).toList();
    }

    private static String values(RecordedEvent event, String... fields) {
        return Stream.of(fields).map(field -> String.valueOf(event.<Object>getValue(field)))
                .collect(Collectors.joining(" "));
    }

    /** {@return an address and port as events show them} */
    public static String text(InetSocketAddress address) {
        return address.getAddress().getHostAddress() + " port " + address.getPort();
    }

    @Override
    public void close() {
        recording.close();
    }
}
