// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.verbs;

/**
 * Delivers the asynchronous events of one open device ({@link DeviceContext#asyncEventChannel}), which has made it and
 * closes it in the end. Implemented by rdma4j alone; a later version adds methods only as {@code default}.
 *
 * <p>C: {@code ibv_context.async_fd}, {@index ibv_get_async_event}. Thread safe; each event is delivered once and must be
 * acknowledged with {@link AsyncEvent#acknowledge} before the object that it names can be closed. Virtual threads may wait
 * here.
 *
 * @since 0.1.0
 */
public interface AsyncEventChannel extends WaitChannel<AsyncEvent> {
    /**
     * Does nothing once the device is closed, which closes the channel. An application need not call it.
     *
     * @throws RdmaException EBUSY while the device is open
     */
    @Override
    void close() throws RdmaException;
}
