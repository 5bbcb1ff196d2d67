// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.tools;

import java.io.IOException;
import java.io.InterruptedIOException;
import java.io.Reader;
import java.io.Writer;

/**
 * What a command in a thread of this process has printed, for a thread that reads it as it comes. Any thread may
 * print, an interrupted one as well: that would close a pipe of java.nio, and what others print after it would be lost.
 */
final class CommandOutput {
    private final StringBuilder printed = new StringBuilder();
    private boolean ended;

    private synchronized void print(char[] from, int offset, int count) {
        printed.append(from, offset, count);
        notifyAll();
    }

    private synchronized void end() {
        ended = true;
        notifyAll();
    }

    /** {@return how many characters were read, -1 once the command has ended and all was read} */
    private synchronized int read(char[] to, int offset, int length) throws IOException {
        while (printed.isEmpty() && !ended) {
            try {
                wait();
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
                throw new InterruptedIOException("interrupted before the command's next output");
            }
        }
        if (printed.isEmpty()) {
            return -1;
        }
        int count = Math.min(length, printed.length());
        printed.getChars(0, count, to, offset);
        printed.delete(0, count);
        return count;
    }

    /** {@return where the command prints; closing it ends the output} */
    Writer writer() {
        return new Writer() {
            @Override
            public void write(char[] from, int offset, int count) {
                print(from, offset, count);
            }

            @Override
            public void flush() {
                // Nothing is kept back.
            }

            @Override
            public void close() {
                end();
            }
        };
    }

    /** {@return what reads it} */
    Reader reader() {
        return new Reader() {
            @Override
            public int read(char[] to, int offset, int length) throws IOException {
                return CommandOutput.this.read(to, offset, length);
            }

            @Override
            public void close() {
                // What is not read is forgotten with this object.
            }
        };
    }
}
