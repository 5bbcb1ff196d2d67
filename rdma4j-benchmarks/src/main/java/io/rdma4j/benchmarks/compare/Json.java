package io.rdma4j.benchmarks.compare;

import io.rdma4j.benchmarks.workload.Quantity;

import java.util.List;
import java.util.Map;
import java.util.StringJoiner;

/** What a session gave, as JSON for programs; values are in base units. */
final class Json {
    private Json() {}

    static String of(Session session, Map<String, String> facts) {
        StringJoiner machine = new StringJoiner(",\n    ", "{\n    ", "\n  }");
        facts.forEach((name, value) -> machine.add(quoted(name) + ": " + quoted(value)));
        StringJoiner trials = new StringJoiner(",\n    ", "[\n    ", "\n  ]");
        session.trials().forEach(trial -> trials.add(trial(session, trial)));
        StringJoiner goals = new StringJoiner(",\n    ", "[\n    ", "\n  ]");
        Goals.all().forEach(goal -> goals.add(goal(session, goal)));
        return "{\n  \"machine\": " + machine + ",\n  \"trials\": " + trials + ",\n  \"goals\": "
                + goals + "\n}\n";
    }

    private static String trial(Session session, Trial trial) {
        StringJoiner members = new StringJoiner(", ", "{", "}");
        members.add("\"id\": " + quoted(trial.id()));
        members.add("\"peer\": " + quoted(trial.peer()));
        members.add("\"work\": " + quoted(trial.work()));
        members.add("\"chief\": " + quoted(trial.chief().name()));
        session.obstacle(trial.id()).ifPresent(why -> members.add("\"obstacle\": " + quoted(why)));
        List<Result> results = session.resultsOf(trial.id());
        if (!results.isEmpty()) {
            members.add("\"coreDistanceNs\": "
                    + results.stream().map(each -> List.of(Math.round(each.beforeNs()),
                            Math.round(each.afterNs()))).toList());
        }
        for (Quantity quantity : Quantity.values()) {
            List<Double> values = results.stream()
                    .flatMap(each -> each.figures().value(quantity).stream()).toList();
            if (!values.isEmpty()) {
                members.add(quoted(quantity.name()) + ": " + values);
            }
        }
        return members.toString();
    }

    private static String goal(Session session, Goal goal) {
        StringJoiner members = new StringJoiner(", ", "{", "}");
        members.add("\"what\": " + quoted(goal.what()));
        members.add("\"sought\": " + quoted(goal.sought()));
        goal.measured(session).ifPresent(value -> members.add("\"measured\": " + value)
                .add("\"met\": " + goal.isMetBy(value)));
        goal.measuredFar(session).ifPresent(value -> members.add("\"farApart\": " + value));
        return members.toString();
    }

    static String quoted(String text) {
        StringBuilder quoted = new StringBuilder("\"");
        for (int i = 0; i < text.length(); i++) {
            char c = text.charAt(i);
            if (c == '"' || c == '\\') {
                quoted.append('\\').append(c);
            } else if (c < ' ') {
                quoted.append(String.format("\\u%04x", (int) c));
            } else {
                quoted.append(c);
            }
        }
        return quoted.append('"').toString();
    }
}
