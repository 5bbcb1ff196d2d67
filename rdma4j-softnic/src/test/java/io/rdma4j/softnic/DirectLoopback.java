package io.rdma4j.softnic;

import io.rdma4j.verbs.Loopback;
import org.junit.jupiter.api.extension.AfterAllCallback;
import org.junit.jupiter.api.extension.BeforeAllCallback;
import org.junit.jupiter.api.extension.ExtensionContext;

/** Devices that a test class opens keep their packets to themselves in memory. */
final class DirectLoopback implements BeforeAllCallback, AfterAllCallback {
    private static final String PROPERTY = "rdma4j.loopback";
    private String before = "";

    @Override
    public void beforeAll(ExtensionContext context) {
        before = System.getProperty(PROPERTY, "");
        System.setProperty(PROPERTY, Loopback.DIRECT.text());
    }

    @Override
    public void afterAll(ExtensionContext context) {
        if (before.isEmpty()) {
            System.clearProperty(PROPERTY);
        } else {
            System.setProperty(PROPERTY, before);
        }
    }
}
