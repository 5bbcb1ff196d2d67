// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.sockets;

import java.nio.channels.SelectionKey;
import java.util.AbstractSet;
import java.util.HashSet;
import java.util.Iterator;
import java.util.Set;

/** The set of selected keys as programs see it: they remove keys, and the selector alone adds some. Not thread safe. */
final class SelectedKeys extends AbstractSet<SelectionKey> {
    private final Set<SelectionKey> keys = new HashSet<>();

    /** {@return whether it was not in the set} */
    boolean select(SelectionKey key) {
        return keys.add(key);
    }

    @Override
    public Iterator<SelectionKey> iterator() {
        return keys.iterator();
    }

    @Override
    public int size() {
        return keys.size();
    }

    @Override
    public boolean contains(Object key) {
        return keys.contains(key);
    }

    @Override
    public boolean remove(Object key) {
        return keys.remove(key);
    }

    @Override
    public void clear() {
        keys.clear();
    }
}
