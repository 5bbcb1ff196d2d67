// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.ibverbs.queue;

import io.rdma4j.ibverbs.abi.Layout;
import io.rdma4j.ibverbs.abi.Layout.QueuePairAttr;
import io.rdma4j.ibverbs.abi.Layout.QueuePairInitAttr;
import io.rdma4j.ibverbs.abi.Native;
import io.rdma4j.ibverbs.abi.NativeFunction;
import io.rdma4j.ibverbs.abi.Outcome;
import io.rdma4j.ibverbs.abi.VerbsSymbol;
import io.rdma4j.ibverbs.device.ContextServices;
import io.rdma4j.ibverbs.device.StateRecord;
import io.rdma4j.ibverbs.values.QueuePairValues;
import io.rdma4j.verbs.AsyncEventType;
import io.rdma4j.verbs.EnhancedConnectionOptions;
import io.rdma4j.verbs.QueuePairAttribute;
import io.rdma4j.verbs.QueuePairAttributes;
import io.rdma4j.verbs.QueuePairState;
import io.rdma4j.verbs.QueuePairType;
import io.rdma4j.verbs.RdmaClosedException;
import io.rdma4j.verbs.RdmaException;
import io.rdma4j.verbs.SendOpcode;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.invoke.VarHandle;
import java.util.function.Consumer;

/**
 * The object of libibverbs of a queue pair: its states, attributes and queries, everything except posting. Takes the
 * context's lock.
 */
public final class QueuePairControl {
    private static final String MODIFY = "modify queue pair";
    private static final int ALL_ATTRIBUTES = 0x1f_ffff;
    /** State, access flags, sizes and outstanding reads; TCP determines the others, or they do not exist. */
    private static final int IWARP_ATTRIBUTES = QueuePairValues.mask(QueuePairAttribute.STATE,
            QueuePairAttribute.CURRENT_STATE, QueuePairAttribute.ACCESS_FLAGS,
            QueuePairAttribute.CAPABILITIES, QueuePairAttribute.MAX_READ_ATOMIC,
            QueuePairAttribute.MAX_DESTINATION_READ_ATOMIC);

    private final ContextServices services;
    private final long pointer;
    private final int number;
    private final QueuePairType type;
    private final Consumer<QueuePairState> onState;
    private final StateRecord stateRecord;
    private volatile QueuePairState state;
    private volatile int qkey;
    private volatile int port = 1;
    private volatile boolean isClosed;

    /**
     * @param pointer the address of its {@code ibv_qp}
     * @param onState notified of every new state
     */
    public QueuePairControl(ContextServices services, long pointer, QueuePairType type,
            Consumer<QueuePairState> onState) {
        this.services = services;
        this.pointer = pointer;
        this.type = type;
        this.onState = onState;
        state = services.firstState();
        number = Native.getInt(Native.at(pointer, Layout.QueuePair.SIZE), Layout.QueuePair.QP_NUM);
        stateRecord = services.states().add(services.device().name(), number, type, state);
    }

    public long pointer() {
        return pointer;
    }

    public int number() {
        return number;
    }

    public QueuePairType type() {
        return type;
    }

    public QueuePairState state() {
        return state;
    }

    /** {@return the Q_Key it was given, 0 before} */
    public int qkey() {
        return qkey;
    }

    /** {@return the port it was given, 1 before} */
    public int port() {
        return port;
    }

    /** {@return whether the driver would lose requests that are posted now, so that they must be flushed here} */
    boolean isTooLate() {
        return state == QueuePairState.ERR && services.faults().losesLateRequests();
    }

    /**
     * {@return whether the driver may have lost requests that the calling thread has just accepted
     * ({@code WorkLedger.accept})} The thread that found the end has looked only for what was accepted before.
     */
    boolean isLostMeanwhile() {
        // Otherwise the state could be read first, and neither thread would see what the other has written.
        VarHandle.fullFence();
        return isTooLate();
    }

    /**
     * {@return the state; if it is ERR, all that is flushed is in the completion queues}
     *
     * @throws IllegalStateException if the queue pair is closed
     */
    public QueuePairState flushedState() {
        if (isClosed) {
            throw new IllegalStateException("the queue pair is closed");
        }
        QueuePairState now = state;
        if (isTooLate()) {
            // The thread that has set the state has the context's lock until it has flushed.
            services.lock();
            services.unlock();
        }
        return now;
    }

    public boolean isClosed() {
        return isClosed;
    }

    public void checkOpen() throws RdmaException {
        if (isClosed) {
            throw RdmaClosedException.of("queue pair");
        }
    }

    public void modify(QueuePairAttributes attributes) throws RdmaException {
        services.lock();
        try {
            checkOpen();
            QueuePairState next = services.transitions().check(type, state, attributes);
            call(attributes).check(MODIFY, "the device refused to go from " + state + " to " + next
                    + " with " + attributes);
            if (attributes.isSet(QueuePairAttribute.QKEY)) {
                qkey = attributes.qkey();
            }
            if (attributes.isSet(QueuePairAttribute.PORT)) {
                port = attributes.port();
            }
            set(next, "MODIFY");
        } finally {
            services.unlock();
        }
    }

    private void set(QueuePairState next, String cause) {
        stateRecord.moved(next, cause);
        state = next;
        onState.accept(next);
    }

    /** The kernel has moved it, as it connected or ended it. */
    public void onKernelState(QueuePairState next) {
        if (next == QueuePairState.ERR && services.faults().losesLateRequests()) {
            onLossyEnd();
        } else if (!isClosed) {
            set(next, "CONNECTION");
        }
    }

    /** Under the context's lock, so that a thread that finds the end by {@link #query} also finds all that is flushed. */
    private void onLossyEnd() {
        services.lock();
        try {
            if (!isClosed) {
                settle();
                set(QueuePairState.ERR, "CONNECTION");
            }
        } finally {
            services.unlock();
        }
    }

    /** Sets state ERR, which siw does only after its flush, or together with it: it has reported the end before. */
    private void settle() {
        // The result does not matter: the connection is over.
        call(new QueuePairAttributes().state(QueuePairState.ERR));
    }

    /** Calls {@code ibv_modify_qp}. */
    private Outcome call(QueuePairAttributes attributes) {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment structure = arena.allocate(QueuePairAttr.SIZE + Layout.SLACK, 8);
            int mask = QueuePairValues.write(structure.asSlice(0, QueuePairAttr.SIZE), attributes);
            return services.verbs().get(VerbsSymbol.MODIFY_QP).call(pointer, structure.address(),
                    mask);
        }
    }

    /** {@return its attributes, except the sizes of its queues} */
    public QueuePairAttributes query() throws RdmaException {
        services.lock();
        try (Arena arena = Arena.ofConfined()) {
            checkOpen();
            MemorySegment attributes = arena.allocate(QueuePairAttr.SIZE + Layout.SLACK, 8);
            MemorySegment initial = arena.allocate(QueuePairInitAttr.SIZE + Layout.SLACK, 8);
            // A driver that does not know the state leaves this value unchanged.
            Native.putInt(attributes, QueuePairAttr.QP_STATE, state.code());
            services.verbs().get(VerbsSymbol.QUERY_QP)
                    .call(pointer, attributes.address(), ALL_ATTRIBUTES, initial.address())
                    .check("query queue pair", "the device cannot tell");
            QueuePairAttributes known = QueuePairValues.read(attributes,
                    services.isStateKept() ? IWARP_ATTRIBUTES : ALL_ATTRIBUTES);
            if (services.isStateKept()) {
                known.state(state);
            } else if (known.state() != state) {
                set(known.state(), "QUERY");
            }
            return known.currentState(known.state());
        } finally {
            services.unlock();
        }
    }

    public boolean isDataInOrder(SendOpcode opcode) throws RdmaException {
        NativeFunction function = services.verbs().find(VerbsSymbol.QUERY_QP_DATA_IN_ORDER);
        services.lock();
        try {
            checkOpen();
            return function != null && function.call(pointer, opcode.code(), 0).value() == 1;
        } finally {
            services.unlock();
        }
    }

    public void enhancedConnectionOptions(EnhancedConnectionOptions options) throws RdmaException {
        checkOpen();
        String operation = "set enhanced connection options";
        NativeFunction function = services.verbs().require(VerbsSymbol.SET_ECE, operation);
        services.lock();
        try (Arena arena = Arena.ofConfined()) {
            checkOpen();
            MemorySegment ece = arena.allocate(Layout.Ece.SIZE + Layout.SLACK, 8);
            Native.putInt(ece, Layout.Ece.VENDOR_ID, options.vendorId());
            Native.putInt(ece, Layout.Ece.OPTIONS, options.options());
            function.call(pointer, ece.address()).check(operation,
                    "the device has none, or not these");
        } finally {
            services.unlock();
        }
    }

    public EnhancedConnectionOptions enhancedConnectionOptions() throws RdmaException {
        checkOpen();
        String operation = "query enhanced connection options";
        NativeFunction function = services.verbs().require(VerbsSymbol.QUERY_ECE, operation);
        services.lock();
        try (Arena arena = Arena.ofConfined()) {
            checkOpen();
            MemorySegment ece = arena.allocate(Layout.Ece.SIZE + Layout.SLACK, 8);
            function.call(pointer, ece.address()).check(operation, "the device cannot tell");
            return new EnhancedConnectionOptions(Native.getInt(ece, Layout.Ece.VENDOR_ID),
                    Native.getInt(ece, Layout.Ece.OPTIONS));
        } finally {
            services.unlock();
        }
    }

    /** The device has reported an error of it. */
    public void onAsyncEvent(AsyncEventType type) {
        stateRecord.onAsyncEvent(type);
    }

    /**
     * Frees it, under the context's lock. After a failure it is not touched any more: some drivers have freed its queues
     * by then.
     */
    public void destroy(String operation) throws RdmaException {
        free().check(operation,
                "the device could not free it; the context cannot be closed any more");
    }

    /** Frees it, as the queue pair cannot be made after all. Under the context's lock. */
    public void abandon() {
        // The first error is reported, not a failure of this call.
        free();
    }

    private Outcome free() {
        isClosed = true;
        services.states().remove(number);
        state = QueuePairState.ERR;
        return services.verbs().get(VerbsSymbol.DESTROY_QP).call(pointer);
    }
}
