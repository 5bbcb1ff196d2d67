// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.tools;

import picocli.CommandLine.IVersionProvider;

import java.io.IOException;
import java.io.InputStream;
import java.util.Objects;
import java.util.Properties;

/** What {@code --version} prints: the version of the build, which the build writes into a file. */
final class Version implements IVersionProvider {
    @Override
    public String[] getVersion() throws IOException {
        Properties build = new Properties();
        try (InputStream file = Objects
                .requireNonNull(Version.class.getResourceAsStream("version.properties"))) {
            build.load(file);
        }
        return new String[]{"rdma4j " + build.getProperty("version")};
    }
}
