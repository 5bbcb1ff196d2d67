// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.softnic.queue;

/** For a completion ring of a test that asks for nothing it would be told; another test overrides what it asks for. */
public class QuietCompletions implements CompletionRing.Listener {
    @Override
    public void onNotify() {}

    @Override
    public void onAwaited() {}

    @Override
    public void onOverrun() {}

    @Override
    public void onModerated(CompletionRing ring) {}
}
