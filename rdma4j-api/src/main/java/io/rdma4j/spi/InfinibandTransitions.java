// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.spi;

import io.rdma4j.state.Transitions;
import io.rdma4j.verbs.Errno;
import io.rdma4j.verbs.QueuePairAttribute;
import io.rdma4j.verbs.QueuePairAttributes;
import io.rdma4j.verbs.QueuePairState;
import io.rdma4j.verbs.QueuePairType;
import io.rdma4j.verbs.RdmaException;
import org.jspecify.annotations.Nullable;

import java.util.EnumSet;
import java.util.Set;
import java.util.stream.Collectors;

import static io.rdma4j.verbs.QueuePairAttribute.*;

/**
 * The transitions of InfiniBand and RoCE.
 *
 * <p>Source: IBTA 10.3.1 and table 91 of 11.2.5.2. Of an extended reliable connection the sending queue pair has what a
 * requester needs, the receiving one what a responder needs; raw packets have a port, and beyond the standard a rate.
 */
public final class InfinibandTransitions implements QueuePairTransitions {
    /** The one there is; it has no state. */
    public static final InfinibandTransitions INSTANCE = new InfinibandTransitions();

    /**
     * The states that a program may ask for. Besides, errors lead to ERR, and those of a send queue of UC and UD to SQE, out of
     * which reliable services do not come.
     */
    static final Transitions<QueuePairState, QueuePairState> TRANSITIONS = Transitions
            .between(QueuePairState.class, QueuePairState.class)
            .on(QueuePairState.RESET, QueuePairState.RESET, EnumSet.allOf(QueuePairState.class))
            .on(QueuePairState.ERR, QueuePairState.ERR,
                    EnumSet.complementOf(EnumSet.of(QueuePairState.RESET)))
            .on(QueuePairState.INIT, QueuePairState.INIT,
                    EnumSet.of(QueuePairState.RESET, QueuePairState.INIT))
            .on(QueuePairState.RTR, QueuePairState.RTR, QueuePairState.INIT)
            .on(QueuePairState.RTS, QueuePairState.RTS,
                    EnumSet.of(QueuePairState.RTR, QueuePairState.RTS, QueuePairState.SQD,
                            QueuePairState.SQE))
            .on(QueuePairState.SQD, QueuePairState.SQD,
                    EnumSet.of(QueuePairState.RTS, QueuePairState.SQD))
            .build();

    private static final String OPERATION = "modify queue pair";

    private InfinibandTransitions() {}

    @Override
    public QueuePairState check(QueuePairType type, QueuePairState current,
            QueuePairAttributes attributes) throws RdmaException {
        if (attributes.isSet(CURRENT_STATE) && attributes.currentState() != current) {
            throw new RdmaException(Errno.EINVAL, OPERATION, "it is in state " + current
                    + ", not in " + attributes.currentState() + " as CURRENT_STATE says");
        }
        QueuePairState next = attributes.isSet(STATE) ? attributes.state() : current;
        Rule rule = rule(type, current, next);
        if (rule == null) {
            throw new RdmaException(Errno.EINVAL, OPERATION, "no transition leads a " + type
                    + " queue pair from " + current + " to " + next + "; from " + current
                    + " it may go to " + reachable(type, current));
        }
        Set<QueuePairAttribute> missing = EnumSet.copyOf(rule.required);
        missing.removeAll(attributes.mask());
        Set<QueuePairAttribute> forbidden = EnumSet.noneOf(QueuePairAttribute.class);
        forbidden.addAll(attributes.mask());
        forbidden.removeAll(rule.required);
        forbidden.removeAll(rule.optional);
        forbidden.remove(STATE);
        if (!missing.isEmpty() || !forbidden.isEmpty()) {
            throw new RdmaException(Errno.EINVAL, OPERATION,
                    "the transition " + type + " " + current + " to " + next
                            + (missing.isEmpty() ? "" : " lacks " + names(missing))
                            + (missing.isEmpty() || forbidden.isEmpty() ? "" : " and")
                            + (forbidden.isEmpty() ? "" : " does not take " + names(forbidden)));
        }
        return next;
    }

    private record Rule(Set<QueuePairAttribute> required, Set<QueuePairAttribute> optional) {}

    private static Rule rule(Set<QueuePairAttribute> required, QueuePairAttribute... optional) {
        Set<QueuePairAttribute> allowed = EnumSet.noneOf(QueuePairAttribute.class);
        allowed.addAll(Set.of(optional));
        return new Rule(required, allowed);
    }

    private static Set<QueuePairAttribute> needs(QueuePairAttribute... attributes) {
        Set<QueuePairAttribute> set = EnumSet.noneOf(QueuePairAttribute.class);
        set.addAll(Set.of(attributes));
        return set;
    }

    private static @Nullable Rule rule(QueuePairType type, QueuePairState from,
            QueuePairState to) {
        if (TRANSITIONS.next(from, to) == null) {
            return null;
        }
        if (to == QueuePairState.RESET || to == QueuePairState.ERR) {
            return rule(needs(), CURRENT_STATE);
        }
        return switch (from) {
            case RESET -> resetToInit(type);
            case INIT -> to == QueuePairState.INIT ? initial(type) : initToRtr(type);
            case RTR -> rtrToRts(type);
            case RTS -> to == QueuePairState.RTS ? working(type) : draining(type);
            case SQD -> to == QueuePairState.RTS ? working(type) : drained(type);
            case SQE -> recovered(type);
            case ERR -> null;
        };
    }

    private static Rule resetToInit(QueuePairType type) {
        return switch (type) {
            case UD -> rule(needs(PKEY_INDEX, PORT, QKEY));
            case RAW_PACKET -> rule(needs(PORT));
            case RC, UC, XRC_SEND, XRC_RECEIVE, DRIVER ->
                rule(needs(PKEY_INDEX, PORT, ACCESS_FLAGS));
        };
    }

    private static Rule initial(QueuePairType type) {
        return switch (type) {
            case UD -> rule(needs(), PKEY_INDEX, PORT, QKEY);
            case RAW_PACKET -> rule(needs());
            case RC, UC, XRC_SEND, XRC_RECEIVE, DRIVER ->
                rule(needs(), PKEY_INDEX, PORT, ACCESS_FLAGS);
        };
    }

    private static Rule initToRtr(QueuePairType type) {
        return switch (type) {
            case UD -> rule(needs(), PKEY_INDEX, QKEY);
            case RAW_PACKET -> rule(needs());
            case RC, XRC_RECEIVE -> rule(
                    needs(ADDRESS_VECTOR, PATH_MTU, DESTINATION_QUEUE_PAIR, RECEIVE_PSN,
                            MAX_DESTINATION_READ_ATOMIC, MIN_RNR_TIMER),
                    ALTERNATE_PATH, ACCESS_FLAGS, PKEY_INDEX);
            case UC, XRC_SEND, DRIVER -> rule(
                    needs(ADDRESS_VECTOR, PATH_MTU, DESTINATION_QUEUE_PAIR, RECEIVE_PSN),
                    ALTERNATE_PATH, ACCESS_FLAGS, PKEY_INDEX);
        };
    }

    private static Rule rtrToRts(QueuePairType type) {
        return switch (type) {
            case UD -> rule(needs(SEND_PSN), CURRENT_STATE, QKEY);
            case RAW_PACKET -> rule(needs(), RATE_LIMIT);
            case RC -> rule(needs(TIMEOUT, RETRY_COUNT, RNR_RETRY, SEND_PSN, MAX_READ_ATOMIC),
                    CURRENT_STATE, ALTERNATE_PATH, ACCESS_FLAGS, MIN_RNR_TIMER,
                    PATH_MIGRATION_STATE, RATE_LIMIT);
            case XRC_SEND -> rule(
                    needs(TIMEOUT, RETRY_COUNT, RNR_RETRY, SEND_PSN, MAX_READ_ATOMIC),
                    CURRENT_STATE, ALTERNATE_PATH, ACCESS_FLAGS, PATH_MIGRATION_STATE);
            case XRC_RECEIVE -> rule(needs(TIMEOUT, SEND_PSN), CURRENT_STATE, ALTERNATE_PATH,
                    ACCESS_FLAGS, MIN_RNR_TIMER, PATH_MIGRATION_STATE);
            case UC, DRIVER -> rule(needs(SEND_PSN), CURRENT_STATE, ALTERNATE_PATH,
                    ACCESS_FLAGS, PATH_MIGRATION_STATE);
        };
    }

    private static Rule working(QueuePairType type) {
        return switch (type) {
            case UD -> rule(needs(), CURRENT_STATE, QKEY);
            case RAW_PACKET -> rule(needs(), RATE_LIMIT);
            case RC -> rule(needs(), CURRENT_STATE, ACCESS_FLAGS, ALTERNATE_PATH,
                    PATH_MIGRATION_STATE, MIN_RNR_TIMER, RATE_LIMIT);
            case XRC_RECEIVE -> rule(needs(), CURRENT_STATE, ACCESS_FLAGS, ALTERNATE_PATH,
                    PATH_MIGRATION_STATE, MIN_RNR_TIMER);
            case UC, XRC_SEND, DRIVER -> rule(needs(), CURRENT_STATE, ACCESS_FLAGS,
                    ALTERNATE_PATH, PATH_MIGRATION_STATE);
        };
    }

    private static Rule draining(QueuePairType type) {
        return type == QueuePairType.RAW_PACKET
                ? rule(needs())
                : rule(needs(), ENABLE_SQD_ASYNC_NOTIFY);
    }

    private static Rule drained(QueuePairType type) {
        return switch (type) {
            case UD -> rule(needs(), PKEY_INDEX, QKEY);
            case RAW_PACKET -> rule(needs());
            case RC -> rule(needs(), PORT, ADDRESS_VECTOR, TIMEOUT, RETRY_COUNT, RNR_RETRY,
                    MAX_READ_ATOMIC, MAX_DESTINATION_READ_ATOMIC, ALTERNATE_PATH, ACCESS_FLAGS,
                    PKEY_INDEX, MIN_RNR_TIMER, PATH_MIGRATION_STATE);
            case XRC_SEND -> rule(needs(), PORT, ADDRESS_VECTOR, TIMEOUT, RETRY_COUNT, RNR_RETRY,
                    MAX_READ_ATOMIC, ALTERNATE_PATH, ACCESS_FLAGS, PKEY_INDEX,
                    PATH_MIGRATION_STATE);
            case XRC_RECEIVE -> rule(needs(), PORT, ADDRESS_VECTOR, TIMEOUT,
                    MAX_DESTINATION_READ_ATOMIC, ALTERNATE_PATH, ACCESS_FLAGS, PKEY_INDEX,
                    MIN_RNR_TIMER, PATH_MIGRATION_STATE);
            case UC, DRIVER -> rule(needs(), ADDRESS_VECTOR, ALTERNATE_PATH, ACCESS_FLAGS,
                    PKEY_INDEX, PATH_MIGRATION_STATE);
        };
    }

    /** {@return out of SQE, which reliable services never come to} */
    private static @Nullable Rule recovered(QueuePairType type) {
        return switch (type) {
            case UD -> rule(needs(), CURRENT_STATE, QKEY);
            case RAW_PACKET -> rule(needs());
            case UC, DRIVER -> rule(needs(), CURRENT_STATE, ACCESS_FLAGS);
            case RC, XRC_SEND, XRC_RECEIVE -> null;
        };
    }

    private static String reachable(QueuePairType type, QueuePairState from) {
        Set<QueuePairState> states = EnumSet.noneOf(QueuePairState.class);
        for (QueuePairState to : QueuePairState.values()) {
            if (rule(type, from, to) != null) {
                states.add(to);
            }
        }
        return states.stream().map(QueuePairState::name).collect(Collectors.joining(", "));
    }

    private static String names(Set<QueuePairAttribute> attributes) {
        return attributes.stream().map(a -> a + " (" + a.field() + ")")
                .collect(Collectors.joining(", "));
    }
}
