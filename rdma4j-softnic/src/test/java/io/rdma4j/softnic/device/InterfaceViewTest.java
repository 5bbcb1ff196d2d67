package io.rdma4j.softnic.device;

import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

import java.net.InetAddress;
import java.net.NetworkInterface;
import java.net.SocketException;
import java.util.List;

import static org.assertj.core.api.Assertions.assertThat;

class InterfaceViewTest {
    private final NetworkInterface loopback = loopback();
    private @Nullable NetworkInterface present = loopback;
    private boolean isUnknown;
    private final InterfaceView view = new InterfaceView(loopback, this::find);

    private static NetworkInterface loopback() {
        try {
            return NetworkInterface.getByInetAddress(InetAddress.getLoopbackAddress());
        } catch (SocketException e) {
            throw new AssertionError(e);
        }
    }

    private @Nullable NetworkInterface find(String name) throws SocketException {
        assertThat(name).isEqualTo(loopback.getName());
        if (isUnknown) {
            throw new SocketException("Too many open files");
        }
        return present;
    }

    @Test
    void interfaceThatIsThereIsSeen() {
        PortView seen = view.get();
        assertThat(seen.isPresent()).isTrue();
        assertThat(seen.isUp()).isTrue();
        assertThat(seen.addresses()).contains(InetAddress.getLoopbackAddress());
    }

    @Test
    void interfaceThatCannotBeAskedForLooksAsBefore() {
        isUnknown = true;
        assertThat(view.get()).as("as it was listed").extracting(PortView::isPresent)
                .isEqualTo(true);
        isUnknown = false;
        present = null;
        assertThat(view.get().isPresent()).isFalse();
        isUnknown = true;
        assertThat(view.get().isPresent()).as("as it was last").isFalse();
    }

    @Test
    void interfaceThatIsGoneHasNoAddresses() {
        present = null;
        assertThat(view.get()).isEqualTo(new PortView(false, false, List.of()));
    }
}
