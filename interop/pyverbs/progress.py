# SPDX-License-Identifier: Apache-2.0
"""What the lines of a player say."""
import json

# What a side of a test of the connection manager prints before it ends its process, where alone the cause is.
SIDES = tuple(f"Player {side} got: " for side in ("passive", "active"))


class Progress:
    """Follows the output of a player."""

    def __init__(self):
        # The names of the tests, once known.
        self.plan = None
        # The test that has started and not ended.
        self.current = None
        # The results by test.
        self.ended = {}
        self._said = []

    def read(self, line):
        if line.startswith("@@ "):
            self._event(json.loads(line[3:]))
        elif line.startswith(SIDES):
            side, _, words = line.removeprefix("Player ").partition(" got: ")
            self._said.append(f"{side}: {words.strip() or 'an error without words'}")

    def _event(self, event):
        if event["kind"] == "plan":
            self.plan = event["tests"]
        elif event["kind"] == "start":
            self.current, self._said = event["test"], []
        elif event["kind"] == "end":
            self.current = None
            if event["outcome"] == "failed" and self._said:
                event["reason"] = f"{event['reason']} ({', '.join(sorted(self._said))})"
            self.ended[event["test"]] = {key: event[key] for key in ("test", "outcome", "reason", "seconds")}

    def unfinished(self):
        """The tests without a result, in their order."""
        return [test for test in self.plan or [] if test not in self.ended]


def failed(test, reason, seconds=0):
    return {"test": test, "outcome": "failed", "reason": reason, "seconds": seconds}
