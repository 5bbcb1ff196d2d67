package io.rdma4j.tools.perftest;

import org.jspecify.annotations.Nullable;

import java.io.IOException;

/** Messages of one size in one direction or both, until all have arrived or the time is over. */
final class MessageStream {
    private final Session session;
    private final long size;
    private final TimeWindow window;
    private final CompletionReader completions;
    private final @Nullable Receiver receiver;
    private final @Nullable Sender sender;

    /** Posts receives, so that the peer may send as soon as both sides have met after it. */
    MessageStream(Session session, long size) throws IOException {
        this.session = session;
        this.size = size;
        Plan plan = session.plan();
        window = new TimeWindow(plan);
        completions = session.completions(window);
        receiver = plan.isReceiving() ? new Receiver(session.side(), plan, size, window) : null;
        sender = plan.isSending() ? new Sender(session.side(), plan, size, window) : null;
    }

    /** {@return what was measured} */
    BandwidthResult run() throws IOException {
        Sender sending = sender;
        Receiver receiving = receiver;
        while (isMore()) {
            if (sending != null && mayBegin()) {
                sending.fill();
            }
            int count = completions.take();
            for (int i = 0; i < count; i++) {
                if (receiving != null && Receiver.isReceive(completions.get(i))) {
                    receiving.onCompletion(completions.get(i));
                } else if (sending != null) {
                    sending.onCompletion(completions.get(i));
                }
            }
            if (window.isTimed()) {
                window.tick();
            }
        }
        BandwidthUnit unit = session.report().unit();
        if (sending != null) {
            return sending.result(size, unit);
        }
        return receiving == null ? BandwidthResult.NONE : receiving.result(unit);
    }

    /** A server that sends as well begins when the client has begun. */
    private boolean mayBegin() {
        return receiver == null || session.plan().isClient() || receiver.received() > 0;
    }

    private boolean isMore() {
        if (window.isTimed()) {
            return !window.isOver();
        }
        return (sender != null && !sender.isDone()) || (receiver != null && !receiver.isDone());
    }
}
