"""The interoperability suite: the runs with Linux, their verdicts and their report."""
