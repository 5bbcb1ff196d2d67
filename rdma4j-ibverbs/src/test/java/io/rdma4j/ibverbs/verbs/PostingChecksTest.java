package io.rdma4j.ibverbs.verbs;

import io.rdma4j.ibverbs.abi.Layout.SendRequest;
import io.rdma4j.ibverbs.abi.Native;
import io.rdma4j.testkit.Wait;
import io.rdma4j.verbs.CompletionQueue;
import io.rdma4j.verbs.ProtectionDomain;
import io.rdma4j.verbs.QueuePair;
import io.rdma4j.verbs.QueuePairCapabilities;
import io.rdma4j.verbs.QueuePairInitAttributes;
import io.rdma4j.verbs.QueuePairType;
import io.rdma4j.verbs.RdmaException;
import io.rdma4j.verbs.SendWorkRequest;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

import java.util.concurrent.atomic.AtomicBoolean;

import static org.assertj.core.api.Assertions.assertThat;

/** What a driver is handed by a post: what was checked, whole, and nothing of what was posted before. */
class PostingChecksTest {
    private final FakeDriver driver = new FakeDriver();

    @AfterEach
    void libraryDidNotFail() throws Exception {
        driver.close();
    }

    private QueuePair ready(NativeContext context, ProtectionDomain domain, QueuePairType type)
            throws RdmaException {
        QueuePair queuePair = create(context, domain, type);
        FakeDriver.ready(queuePair);
        return queuePair;
    }

    private static QueuePair create(NativeContext context, ProtectionDomain domain,
            QueuePairType type) throws RdmaException {
        CompletionQueue queue = context.createCompletionQueue(16);
        return domain.createQueuePair(new QueuePairInitAttributes().type(type)
                .completionQueue(queue)
                .capabilities(new QueuePairCapabilities(16, 4, 8, 2, 16)));
    }

    // ---------------------------------------------------------------- requests that change meanwhile

    /** Whatever a thread does to a request that another posts, the driver gets whole requests of the right sizes. */
    @Test
    void requestThatIsChangedWhileItIsPostedHasNoMoreElementsThanTheQueuePair() throws Exception {
        NativeContext context = driver.open();
        QueuePair queuePair = ready(context, context.allocateProtectionDomain(),
                QueuePairType.RC);
        AtomicBoolean isOver = new AtomicBoolean();
        AtomicBoolean hasBegun = new AtomicBoolean();
        SendWorkRequest request = new SendWorkRequest();
        Thread changing = Thread.ofPlatform().start(() -> {
            while (!isOver.get()) {
                request.elements().clear();
                for (int i = 0; i < 64; i++) {
                    request.elements().add(0x1000, 1, 1);
                }
                hasBegun.set(true);
            }
        });
        Wait.until("the request is being changed", hasBegun::get);
        try {
            for (int i = 0; i < 20_000; i++) {
                postWhatItIs(queuePair, request);
                driver.posted.clear();
            }
        } finally {
            isOver.set(true);
            changing.join();
        }
    }

    private void postWhatItIs(QueuePair queuePair, SendWorkRequest request) {
        try {
            queuePair.postSend(request);
            int elements = Native.getInt(driver.posted.getFirst(), SendRequest.NUM_SGE);
            assertThat(elements).isBetween(0, queuePair.capabilities().maxSendElements());
        } catch (RdmaException | IndexOutOfBoundsException refused) {
            assertThat(driver.posted).isEmpty();
        }
    }
}
