package io.rdma4j.event;

import java.io.IOException;

/**
 * What a wait for events ends with when none comes.
 *
 * @param <X> the exception
 */
public interface WaitFailures<X extends Exception> {
    /** {@return the end of a wait whose thread was interrupted; sets its interrupt status again} */
    X interrupted();

    /** {@return the end of a wait for events of something that is closed} */
    X closed();

    /** {@return the refusal to join a set, because the channel belongs to another one that is open} */
    X inAnotherSet();

    /** {@return the refusal to join a set, because the channel or the set is closed} */
    X closedToJoin();

    /** {@return the refusal of a channel to select on, because the system gives no pipe} */
    X noPipe(IOException cause);
}
