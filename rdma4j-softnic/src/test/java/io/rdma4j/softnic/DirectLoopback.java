package io.rdma4j.softnic;

import io.rdma4j.softnic.options.Loopback;
import org.junit.jupiter.api.extension.AfterAllCallback;
import org.junit.jupiter.api.extension.BeforeAllCallback;
import org.junit.jupiter.api.extension.ExtensionContext;

import java.util.ArrayDeque;
import java.util.Deque;

/** Devices that a test class opens keep their packets to themselves in memory. */
final class DirectLoopback implements BeforeAllCallback, AfterAllCallback {
    private static final String PROPERTY = "rdma4j.loopback";
    /** One for each class under way: nested classes are announced as well. */
    private final Deque<String> before = new ArrayDeque<>();

    @Override
    public void beforeAll(ExtensionContext context) {
        before.push(System.getProperty(PROPERTY, Loopback.AUTO.text()));
        System.setProperty(PROPERTY, Loopback.DIRECT.text());
    }

    @Override
    public void afterAll(ExtensionContext context) {
        System.setProperty(PROPERTY, before.pop());
    }
}
