// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.benchmarks.compare;

import com.google.gson.Gson;
import com.google.gson.GsonBuilder;
import io.rdma4j.benchmarks.workload.Quantity;

import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** What a session gave, as JSON for programs; values are in base units. */
final class SessionJson {
    private static final Gson JSON = new GsonBuilder().setPrettyPrinting().disableHtmlEscaping()
            .create();

    private SessionJson() {}

    static String of(Session session, Map<String, String> facts) {
        Map<String, Object> all = new LinkedHashMap<>();
        all.put("machine", facts);
        all.put("trials", session.trials().stream().map(each -> trial(session, each)).toList());
        all.put("goals", Goals.all().stream().map(each -> goal(session, each)).toList());
        return JSON.toJson(all);
    }

    private static Map<String, Object> trial(Session session, Trial trial) {
        Map<String, Object> members = new LinkedHashMap<>();
        members.put("id", trial.id());
        members.put("peer", trial.peer());
        members.put("work", trial.work());
        members.put("chief", trial.chief().name());
        session.obstacle(trial.id()).ifPresent(why -> members.put("obstacle", why));
        List<Result> results = session.resultsOf(trial.id());
        if (!results.isEmpty()) {
            members.put("coreDistanceNs", results.stream().map(
                    each -> List.of(Math.round(each.beforeNs()), Math.round(each.afterNs())))
                    .toList());
        }
        for (Quantity quantity : Quantity.values()) {
            List<Double> values = results.stream()
                    .flatMap(each -> each.figures().value(quantity).stream()).toList();
            if (!values.isEmpty()) {
                members.put(quantity.name(), values);
            }
        }
        return members;
    }

    private static Map<String, Object> goal(Session session, Goal goal) {
        Map<String, Object> members = new LinkedHashMap<>();
        members.put("what", goal.what());
        members.put("sought", goal.sought());
        goal.measured(session).ifPresent(value -> {
            members.put("measured", value);
            members.put("met", goal.isMetBy(value));
        });
        goal.measuredFar(session).ifPresent(value -> members.put("farApart", value));
        return members;
    }
}
