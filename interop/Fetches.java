// SPDX-License-Identifier: Apache-2.0
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.security.DigestInputStream;
import java.security.GeneralSecurityException;
import java.security.MessageDigest;
import java.util.HexFormat;

/**
 * Gets a document by the JDK's HttpClient. It knows nothing of RDMA.
 *
 * <p>Run by {@code interop/run} as {@code java Fetches.java URL SHA256}: what the document must have.
 */
final class Fetches {
    private static final int OK = 200;

    private Fetches() {}

    public static void main(String[] arguments)
            throws IOException, InterruptedException, GeneralSecurityException {
        MessageDigest digest = MessageDigest.getInstance("SHA-256");
        try (HttpClient client = HttpClient.newHttpClient()) {
            HttpRequest request = HttpRequest.newBuilder(URI.create(arguments[0])).build();
            HttpResponse<InputStream> answer = client.send(request,
                    HttpResponse.BodyHandlers.ofInputStream());
            try (InputStream body = new DigestInputStream(answer.body(), digest)) {
                body.transferTo(OutputStream.nullOutputStream());
            }
            String found = HexFormat.of().formatHex(digest.digest());
            if (answer.statusCode() != OK || !found.equals(arguments[1])) {
                throw new IOException(
                        "data differ: status " + answer.statusCode() + ", " + found);
            }
        }
    }
}
