// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.sockets.programs;

import io.grpc.CallOptions;
import io.grpc.ManagedChannel;
import io.grpc.MethodDescriptor;
import io.grpc.Server;
import io.grpc.ServerServiceDefinition;
import io.grpc.netty.shaded.io.grpc.netty.NettyChannelBuilder;
import io.grpc.netty.shaded.io.grpc.netty.NettyServerBuilder;
import io.grpc.stub.ClientCalls;
import io.grpc.stub.ServerCalls;
import io.grpc.stub.StreamObserver;

import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.Arrays;
import java.util.concurrent.CompletableFuture;

/** A stream in each direction by gRPC, with the Netty that is in it. */
public final class GrpcProgram {
    private static final int MESSAGES = 200;
    private static final int BYTES = 20_000;

    private static final MethodDescriptor.Marshaller<byte[]> BYTES_AS_THEY_ARE = new MethodDescriptor.Marshaller<>() {
        @Override
        public InputStream stream(byte[] value) {
            return new ByteArrayInputStream(value);
        }

        @Override
        public byte[] parse(InputStream stream) {
            try {
                return stream.readAllBytes();
            } catch (IOException e) {
                throw new UncheckedIOException(e);
            }
        }
    };
    private static final MethodDescriptor<byte[], byte[]> ECHO = MethodDescriptor
            .newBuilder(BYTES_AS_THEY_ARE, BYTES_AS_THEY_ARE)
            .setType(MethodDescriptor.MethodType.BIDI_STREAMING)
            .setFullMethodName("echo.Echo/Stream").build();

    private GrpcProgram() {}

    public static void main(String[] arguments) throws Exception {
        Server server = NettyServerBuilder
                .forAddress(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0))
                .addService(ServerServiceDefinition.builder("echo.Echo")
                        .addMethod(ECHO, ServerCalls.asyncBidiStreamingCall(answers -> answers))
                        .build())
                .build().start();
        ManagedChannel channel = NettyChannelBuilder.forAddress("127.0.0.1", server.getPort())
                .usePlaintext().build();
        CompletableFuture<Integer> done = new CompletableFuture<>();
        StreamObserver<byte[]> requests = ClientCalls.asyncBidiStreamingCall(
                channel.newCall(ECHO, CallOptions.DEFAULT), new StreamObserver<>() {
                    private int count;

                    @Override
                    public void onNext(byte[] value) {
                        if (Arrays.equals(value, SeededBytes.of(count, BYTES))) {
                            count++;
                        }
                    }

                    @Override
                    public void onError(Throwable error) {
                        done.completeExceptionally(error);
                    }

                    @Override
                    public void onCompleted() {
                        done.complete(count);
                    }
                });
        for (int i = 0; i < MESSAGES; i++) {
            requests.onNext(SeededBytes.of(i, BYTES));
        }
        requests.onCompleted();
        System.out.println(done.join() + " echoes");
        channel.shutdownNow();
        server.shutdownNow();
        server.awaitTermination();
    }
}
