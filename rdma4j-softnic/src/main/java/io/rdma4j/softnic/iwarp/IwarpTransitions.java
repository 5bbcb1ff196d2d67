// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.softnic.iwarp;

import io.rdma4j.spi.QueuePairTransitions;
import io.rdma4j.state.Transitions;
import io.rdma4j.verbs.Errno;
import io.rdma4j.verbs.QueuePairAttribute;
import io.rdma4j.verbs.QueuePairAttributes;
import io.rdma4j.verbs.QueuePairState;
import io.rdma4j.verbs.QueuePairType;
import io.rdma4j.verbs.RdmaException;

import java.util.EnumSet;
import java.util.Set;
import java.util.stream.Collectors;

/**
 * The state transitions that a program may make on an iWARP queue pair: prepare it, end it, and use it again. Only the
 * connection changes it to RTR and RTS. Source: RFC 5040 6.
 */
enum IwarpTransitions implements QueuePairTransitions {
    INSTANCE;

    /** The states that a program may ask for. */
    static final Transitions<QueuePairState, QueuePairState> TRANSITIONS = Transitions
            .between(QueuePairState.class, QueuePairState.class)
            .on(QueuePairState.RESET, QueuePairState.RESET, EnumSet.allOf(QueuePairState.class))
            .on(QueuePairState.ERR, QueuePairState.ERR,
                    EnumSet.complementOf(EnumSet.of(QueuePairState.RESET)))
            .on(QueuePairState.INIT, QueuePairState.INIT,
                    EnumSet.of(QueuePairState.RESET, QueuePairState.INIT))
            .on(QueuePairState.RTS, QueuePairState.RTS, QueuePairState.RTS)
            .on(QueuePairState.SQD, QueuePairState.SQD,
                    EnumSet.of(QueuePairState.RTS, QueuePairState.SQD))
            .build();

    private static final String OPERATION = "modify queue pair";
    /**
     * Includes attributes that other devices need and that have no effect here, as with Linux's siw: TCP has time-outs of
     * its own, and a message without a receive ends the connection. C's perftest sets the RNR timer over siw, too.
     */
    private static final Set<QueuePairAttribute> TAKEN = EnumSet.of(QueuePairAttribute.STATE,
            QueuePairAttribute.CURRENT_STATE, QueuePairAttribute.ACCESS_FLAGS,
            QueuePairAttribute.PORT, QueuePairAttribute.PKEY_INDEX,
            QueuePairAttribute.MAX_READ_ATOMIC, QueuePairAttribute.MAX_DESTINATION_READ_ATOMIC,
            QueuePairAttribute.TIMEOUT, QueuePairAttribute.RETRY_COUNT,
            QueuePairAttribute.RNR_RETRY, QueuePairAttribute.MIN_RNR_TIMER);

    @Override
    public QueuePairState check(QueuePairType type, QueuePairState current,
            QueuePairAttributes attributes) throws RdmaException {
        if (attributes.isSet(QueuePairAttribute.CURRENT_STATE)
                && attributes.currentState() != current) {
            throw new RdmaException(Errno.EINVAL, OPERATION, "it is in state " + current
                    + ", not in " + attributes.currentState() + " as CURRENT_STATE says");
        }
        QueuePairState next = attributes.isSet(QueuePairAttribute.STATE)
                ? attributes.state()
                : current;
        if (TRANSITIONS.next(current, next) == null) {
            throw new RdmaException(Errno.EINVAL, OPERATION, "no transition leads from " + current
                    + " to " + next
                    + ": a queue pair of iWARP is brought to RTS by its connection");
        }
        Set<QueuePairAttribute> unknown = EnumSet.noneOf(QueuePairAttribute.class);
        unknown.addAll(attributes.mask());
        unknown.removeAll(TAKEN);
        if (!unknown.isEmpty()) {
            throw new RdmaException(Errno.EINVAL, OPERATION,
                    "iWARP has no " + unknown.stream().map(each -> each + " (" + each.field() + ")")
                            .collect(Collectors.joining(", ")));
        }
        return next;
    }
}
