// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.softnic.network.linux.memory;

import io.rdma4j.softnic.network.linux.calls.LinuxCalls;
import io.rdma4j.softnic.network.linux.calls.LinuxSocket;
import io.rdma4j.softnic.network.linux.calls.SharedPages;
import io.rdma4j.softnic.network.linux.sharing.MailboxTable;
import io.rdma4j.softnic.network.ring.LentSection;
import org.jspecify.annotations.Nullable;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.HashMap;
import java.util.Map;
import java.util.Set;

import static java.lang.foreign.ValueLayout.JAVA_LONG;

/**
 * The pages of other devices of which payloads were borrowed, mapped to read in sections, as far as they are in use. For the
 * owner of the engine.
 */
final class BorrowedPages implements AutoCloseable {
    private static final System.Logger LOG = System.getLogger(BorrowedPages.class.getName());

    /** Of one device: a process that names ever more places does not use up what this one can map. */
    private static final int MOST_SECTIONS = 512;

    /** The pages of one device. */
    private static final class OfDevice {
        final SharedPages pages;
        final Map<Long, Mapping> sections = new HashMap<>();

        OfDevice(SharedPages pages) {
            this.pages = pages;
        }

        void unmap() {
            sections.values().forEach(each -> each.arena.close());
            sections.clear();
        }

        void close() {
            unmap();
            pages.close();
        }
    }

    private record Mapping(LentSection section, Arena arena) {}

    /** By the nonces of their owners. */
    private final Map<Long, OfDevice> devices = new HashMap<>();

    /**
     * {@return a section of the pages of a device, one that is gone if there is none; null if the system does not let this
     * process have the pages}
     *
     * @param descriptor the file descriptor of the pages in their process
     */
    @Nullable
    LentSection section(MailboxTable.Entry owner, int descriptor, long number) {
        try {
            OfDevice device = devices.get(owner.nonce());
            if (device == null) {
                device = new OfDevice(open(owner, descriptor));
                devices.put(owner.nonce(), device);
            }
            Mapping known = device.sections.get(number);
            if (known == null) {
                long end = (number + 1) * LentSection.LENGTH;
                if (device.pages.length() < end) {
                    return LentSection.gone();
                }
                if (device.sections.size() >= MOST_SECTIONS) {
                    device.unmap();
                }
                known = map(device.pages, number);
                device.sections.put(number, known);
            }
            return known.section;
        } catch (LinuxSocket.Refused e) {
            LOG.log(System.Logger.Level.DEBUG, () -> "nothing is borrowed of process "
                    + owner.process() + ": " + e.getMessage());
            return null;
        }
    }

    /** @throws LinuxSocket.Refused if they are not the pages of that device */
    private static SharedPages open(MailboxTable.Entry owner, int descriptor)
            throws LinuxSocket.Refused {
        SharedPages pages = SharedPages.openToRead(owner.process(), descriptor);
        try (Arena look = Arena.ofConfined()) {
            if (pages.length() >= LentSection.LENGTH) {
                MemorySegment head = pages.mapToRead(0, LendablePages.STRETCH, look);
                if (head.get(JAVA_LONG, 0) == LendablePages.MAGIC
                        && head.get(JAVA_LONG, LendablePages.NONCE_AT) == owner.nonce()) {
                    return pages;
                }
            }
        } catch (LinuxSocket.Refused e) {
            pages.close();
            throw e;
        }
        pages.close();
        throw new LinuxSocket.Refused(LinuxCalls.EINVAL, "reading the pages of another device");
    }

    private static Mapping map(SharedPages pages, long number) throws LinuxSocket.Refused {
        Arena arena = Arena.ofShared();
        try {
            return new Mapping(new LentSection(pages.mapToRead(number * LentSection.LENGTH,
                    LentSection.LENGTH, arena)), arena);
        } catch (LinuxSocket.Refused e) {
            arena.close();
            throw e;
        }
    }

    /** Unmaps what was not read since this was called last. */
    void unmapUnused() {
        devices.values().removeIf(device -> {
            device.sections.values().removeIf(each -> {
                boolean isUsed = each.section.takeUsed();
                if (!isUsed) {
                    each.arena.close();
                }
                return !isUsed;
            });
            if (device.sections.isEmpty()) {
                device.close();
                return true;
            }
            return false;
        });
    }

    /** {@return whether nothing is mapped} */
    boolean isEmpty() {
        return devices.isEmpty();
    }

    /** Unmaps the pages of all devices but some. */
    void keepThoseOf(Set<Long> owners) {
        devices.entrySet().removeIf(each -> {
            boolean isGone = !owners.contains(each.getKey());
            if (isGone) {
                each.getValue().close();
            }
            return isGone;
        });
    }

    @Override
    public void close() {
        devices.values().forEach(OfDevice::close);
        devices.clear();
    }
}
