package io.rdma4j.ibverbs;

import jdk.jfr.Recording;
import jdk.jfr.consumer.RecordedEvent;
import jdk.jfr.consumer.RecordingFile;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;

/** A recording of Java Flight Recorder, from now until it is read. */
public final class FlightRecording implements AutoCloseable {
    private final Recording recording = new Recording();

    /** Begins to record. */
    public FlightRecording() {
        recording.start();
    }

    /** {@return the events of a kind, each its values in the order given, in the order of time} */
    public List<String> events(Path directory, String kind, String... fields) throws Exception {
        recording.stop();
        Path file = directory.resolve(kind + ".jfr");
        recording.dump(file);
        List<String> events = new ArrayList<>();
        List<RecordedEvent> recorded = new ArrayList<>(RecordingFile.readAllEvents(file));
        // Each thread has written its own.
        recorded.sort(Comparator.comparing(RecordedEvent::getStartTime));
        for (RecordedEvent event : recorded) {
            if (event.getEventType().getName().equals("io.rdma4j." + kind)) {
                List<String> values = new ArrayList<>();
                for (String field : fields) {
                    Object value = event.getValue(field);
                    values.add(String.valueOf(value));
                }
                events.add(String.join(" ", values));
            }
        }
        return events;
    }

    @Override
    public void close() {
        recording.close();
    }
}
