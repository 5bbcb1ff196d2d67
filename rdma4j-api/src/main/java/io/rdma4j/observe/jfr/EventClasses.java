// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.observe.jfr;

import jdk.jfr.Event;
import jdk.jfr.FlightRecorder;
import jdk.jfr.FlightRecorderListener;
import org.jspecify.annotations.Nullable;

import java.util.List;
import java.util.function.Supplier;

/**
 * Events that Java Flight Recorder knows while a device is open that may tell them. Their classes are loaded when the
 * recorder starts, for that takes a fifth of a second. Thread safe.
 */
public final class EventClasses {
    /** A runtime image may come without the recorder. */
    private static final boolean IS_PRESENT = ModuleLayer.boot().findModule("jdk.jfr").isPresent();

    private final Supplier<List<Class<?>>> classes;
    private final @Nullable Periodic periodic;
    /** How many are open. */
    private int devices;
    private @Nullable Registration registration;

    /**
     * An event that the recorder asks for in each period.
     *
     * @param event tells the subclass of {@code jdk.jfr.Event}
     * @param emit records what there is to say
     */
    record Periodic(Supplier<Class<?>> event, Runnable emit) {}

    /** @param classes tells the subclasses of {@code jdk.jfr.Event} */
    public EventClasses(Supplier<List<Class<?>>> classes) {
        this(classes, null);
    }

    EventClasses(Supplier<List<Class<?>>> classes, @Nullable Periodic periodic) {
        this.classes = classes;
        this.periodic = periodic;
    }

    /** {@return whether the recorder has been started} */
    public static boolean isStarted() {
        return IS_PRESENT && FlightRecorder.isInitialized();
    }

    /**
     * A device is opened: the events are known as soon as the recorder starts, or now if it has, until the last
     * device is closed.
     */
    public synchronized void prepare() {
        if (devices++ == 0 && IS_PRESENT) {
            registration = Registration.begin(classes, periodic);
        }
    }

    /** A device is closed: after the last one the recorder need not remember these classes. */
    public synchronized void forget() {
        if (--devices == 0 && registration != null) {
            registration.end();
            registration = null;
        }
    }

    /** Of its own so that it is loaded only where there is a recorder. */
    private record Registration(Supplier<List<Class<?>>> classes,
            @Nullable Periodic periodic) implements FlightRecorderListener {
        static Registration begin(Supplier<List<Class<?>>> classes, @Nullable Periodic periodic) {
            Registration begun = new Registration(classes, periodic);
            FlightRecorder.addListener(begun);
            return begun;
        }

        @Override
        public void recorderInitialized(FlightRecorder recorder) {
            for (Class<?> each : classes.get()) {
                FlightRecorder.register(each.asSubclass(Event.class));
            }
            if (periodic != null) {
                FlightRecorder.addPeriodicEvent(periodic.event.get().asSubclass(Event.class),
                        periodic.emit);
            }
        }

        void end() {
            FlightRecorder.removeListener(this);
            if (periodic != null && isStarted()) {
                FlightRecorder.removePeriodicEvent(periodic.emit);
            }
        }
    }
}
