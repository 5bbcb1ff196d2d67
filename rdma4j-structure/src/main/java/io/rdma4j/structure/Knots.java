// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.structure;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;

/** The circles of a graph, by Tarjan's strongly connected components. */
final class Knots {
    private final Map<String, Set<String>> graph;
    private final Map<String, Integer> numbers = new HashMap<>();
    private final Map<String, Integer> lowest = new HashMap<>();
    private final Deque<String> open = new ArrayDeque<>();
    private final List<Integer> sizes = new ArrayList<>();

    /** @param graph what each node knows; whoever is known is a node */
    Knots(Map<String, Set<String>> graph) {
        this.graph = graph;
        graph.keySet().forEach(this::visit);
    }

    private void visit(String node) {
        if (numbers.containsKey(node)) {
            return;
        }
        int number = numbers.size();
        numbers.put(node, number);
        lowest.put(node, number);
        open.push(node);
        for (String other : graph.getOrDefault(node, Set.of())) {
            visit(other);
            if (open.contains(other)) {
                lowest.merge(node, lowest.getOrDefault(other, number), Math::min);
            }
        }
        if (lowest.getOrDefault(node, number) == number) {
            close(node);
        }
    }

    private void close(String first) {
        int size = 0;
        String closed;
        do {
            closed = open.pop();
            size++;
        } while (!closed.equals(first));
        sizes.add(size);
    }

    /** {@return how many nodes are in circles of more than {@code most}} */
    int nodesOver(int most) {
        return sizes.stream().filter(size -> size > most).mapToInt(Integer::intValue).sum();
    }
}
