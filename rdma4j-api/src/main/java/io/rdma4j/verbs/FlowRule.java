// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.verbs;

import java.util.Comparator;
import java.util.List;
import java.util.Objects;

/**
 * Which frames a queue pair shall receive.
 *
 * <p>C: {@code struct} {@index ibv_flow_attr}. Immutable.
 *
 * {@snippet :
 * Flow flow = queuePair.attachFlow(FlowRule.of(EthernetMatch.ANY.withDestination(mac),
 *         Ipv4Match.ANY.withSource(peer), PortMatch.UDP.withDestination(4791)));
 * }
 *
 * @param type what frames are chosen by ({@index type of struct ibv_flow_attr})
 * @param matches what their headers must have in them, for type NORMAL at least one, for others none; kept by layer
 *        ({@index num_of_specs of struct ibv_flow_attr})
 * @param priority from 0, which goes first, to 65535; many devices have fewer ({@index priority of struct ibv_flow_attr})
 * @param port the port they come in by, from 1 ({@index port of struct ibv_flow_attr})
 * @param isPassedOn whether rules that follow may have the frames too ({@index IBV_FLOW_ATTR_FLAGS_DONT_TRAP} of {@code enum} {@index ibv_flow_flags} in
 *        {@index flags of struct ibv_flow_attr})
 * @since 0.1.0
 */
@Experimental
public record FlowRule(FlowRuleType type, List<FlowMatch> matches, int priority, int port,
        boolean isPassedOn) {

    /**
     * Checks what goes together.
     *
     * @throws IllegalArgumentException for a number out of range, two matches of one layer, a rule of type NORMAL without
     *         match or another with any
     */
    public FlowRule {
        Objects.requireNonNull(type, "type");
        Ranges.check("priority", priority, 0xffff);
        Ranges.check("port", port, 0xff);
        matches = matches.stream().sorted(Comparator.comparingInt(FlowMatch::layer)).toList();
        if (matches.isEmpty() == (type == FlowRuleType.NORMAL)) {
            throw new IllegalArgumentException(type == FlowRuleType.NORMAL
                    ? "a rule of type NORMAL needs a match; ALL_DEFAULT takes what is left"
                    : "only a rule of type NORMAL has matches, not one of type " + type);
        }
        for (int i = 1; i < matches.size(); i++) {
            if (matches.get(i).layer() == matches.get(i - 1).layer()) {
                throw new IllegalArgumentException(
                        "a rule has at most one match of each layer, not "
                                + matches.get(i - 1) + " and " + matches.get(i));
            }
        }
    }

    /**
     * {@return a rule for frames whose headers match, on port 1, of the first priority}
     *
     * @param matches what a frame must have, all of it
     */
    public static FlowRule of(FlowMatch... matches) {
        return new FlowRule(FlowRuleType.NORMAL, List.of(matches), 0, 1, false);
    }

    /**
     * {@return a rule of a type that has no matches, on port 1, of the first priority}
     *
     * @param type how frames are chosen
     * @throws IllegalArgumentException for type NORMAL
     */
    public static FlowRule of(FlowRuleType type) {
        return new FlowRule(type, List.of(), 0, 1, false);
    }

    /** {@return the same of another priority} */
    public FlowRule withPriority(int value) {
        return new FlowRule(type, matches, value, port, isPassedOn);
    }

    /** {@return the same for another port} */
    public FlowRule withPort(int value) {
        return new FlowRule(type, matches, priority, value, isPassedOn);
    }

    /** {@return the same, that lets rules that follow have the frames too} */
    public FlowRule passedOn() {
        return new FlowRule(type, matches, priority, port, true);
    }
}
