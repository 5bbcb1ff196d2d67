// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.state;

import org.jspecify.annotations.Nullable;

import java.util.EnumMap;
import java.util.EnumSet;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * The edges of a state machine as data: which state follows at which event. What has such a machine declares its table in one
 * place and asks it for each change, so that the table is what happens.
 *
 * <p>Immutable; for any thread.
 *
 * @param <S> the states
 * @param <E> the events
 */
public final class Transitions<S extends Enum<S>, E extends Enum<E>> {
    private final Class<S> states;
    private final Class<E> events;
    private final Map<S, Map<E, S>> edges;

    private Transitions(Builder<S, E> builder) {
        states = builder.states;
        events = builder.events;
        edges = builder.edges;
    }

    /** {@return a table without an edge, to be filled} */
    public static <S extends Enum<S>, E extends Enum<E>> Builder<S, E> between(Class<S> states,
            Class<E> events) {
        return new Builder<>(states, events);
    }

    /** Collects the edges of a table. For one thread. */
    public static final class Builder<S extends Enum<S>, E extends Enum<E>> {
        private final Class<S> states;
        private final Class<E> events;
        private final Map<S, Map<E, S>> edges;

        private Builder(Class<S> states, Class<E> events) {
            this.states = states;
            this.events = events;
            edges = new EnumMap<>(states);
            for (S state : states.getEnumConstants()) {
                edges.put(state, new EnumMap<>(events));
            }
        }

        /**
         * Adds edges.
         *
         * @param event what happens
         * @param to the state that follows
         * @param from the states in which it can happen
         * @return this builder
         * @throws IllegalArgumentException if the event leads from one of them elsewhere already
         */
        public Builder<S, E> on(E event, S to, Set<S> from) {
            for (S each : from) {
                Map<E, S> ofState = edges.get(each);
                if (ofState == null || ofState.putIfAbsent(event, to) != null) {
                    throw new IllegalArgumentException(
                            event + " in state " + each + " is in the table already");
                }
            }
            return this;
        }

        /** {@return this builder, with one more edge} As {@link #on(Enum, Enum, Set)}. */
        public Builder<S, E> on(E event, S to, S from) {
            return on(event, to, EnumSet.of(from));
        }

        /** {@return the table; nothing can be added any more} */
        public Transitions<S, E> build() {
            return new Transitions<>(this);
        }
    }

    /** {@return the state that follows, null if the event cannot happen in the state, or changes nothing} */
    public @Nullable S next(S state, E event) {
        Map<E, S> ofState = edges.get(state);
        return ofState == null ? null : ofState.get(event);
    }

    /**
     * {@return the state that follows}
     *
     * @throws IllegalStateException if the event cannot happen in the state
     */
    public S after(S state, E event) {
        S next = next(state, event);
        if (next == null) {
            throw new IllegalStateException(event + " cannot happen in state " + state);
        }
        return next;
    }

    /** {@return all states, in their order} */
    public List<S> states() {
        return List.of(states.getEnumConstants());
    }

    /** {@return all events, in their order} */
    public List<E> events() {
        return List.of(events.getEnumConstants());
    }
}
