// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.sockets.programs;

import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.KeyStore;
import java.util.List;

import javax.net.ssl.KeyManagerFactory;
import javax.net.ssl.SSLContext;
import javax.net.ssl.TrustManagerFactory;

/** A key and a certificate of 127.0.0.1, made by the JDK's {@code keytool}, and what programs make of them for TLS. */
final class TestCertificate {
    private static final String PASSWORD = "changeit";

    private final KeyManagerFactory keys;
    private final TrustManagerFactory trusted;

    private TestCertificate(KeyManagerFactory keys, TrustManagerFactory trusted) {
        this.keys = keys;
        this.trusted = trusted;
    }

    /** {@return a new one} */
    static TestCertificate make() throws Exception {
        Path directory = Files.createTempDirectory("certificate");
        Path file = directory.resolve("keys.p12");
        try {
            String tool = Path.of(System.getProperty("java.home"), "bin", "keytool").toString();
            int status = new ProcessBuilder(List.of(tool, "-genkeypair", "-alias", "own", "-keyalg",
                    "EC", "-dname", "CN=localhost", "-ext", "SAN=ip:127.0.0.1,dns:localhost",
                    "-validity", "2", "-storetype", "PKCS12", "-keystore", file.toString(),
                    "-storepass", PASSWORD)).inheritIO().start().waitFor();
            if (status != 0) {
                throw new IllegalStateException("keytool ends with " + status);
            }
            return of(file);
        } finally {
            Files.deleteIfExists(file);
            Files.delete(directory);
        }
    }

    private static TestCertificate of(Path file) throws Exception {
        KeyStore store = KeyStore.getInstance("PKCS12");
        try (InputStream in = Files.newInputStream(file)) {
            store.load(in, PASSWORD.toCharArray());
        }
        KeyManagerFactory keys = KeyManagerFactory
                .getInstance(KeyManagerFactory.getDefaultAlgorithm());
        keys.init(store, PASSWORD.toCharArray());
        TrustManagerFactory trusted = TrustManagerFactory
                .getInstance(TrustManagerFactory.getDefaultAlgorithm());
        trusted.init(store);
        return new TestCertificate(keys, trusted);
    }

    /** {@return the key, for servers} */
    KeyManagerFactory keys() {
        return keys;
    }

    /** {@return the certificate, which clients trust} */
    TrustManagerFactory trusted() {
        return trusted;
    }

    /** {@return both for the JDK's own TLS} */
    SSLContext context() throws Exception {
        SSLContext context = SSLContext.getInstance("TLS");
        context.init(keys.getKeyManagers(), trusted.getTrustManagers(), null);
        return context;
    }
}
