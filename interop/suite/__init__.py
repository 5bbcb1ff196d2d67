"""The interoperability suite: what is tried with Linux, how it is judged, what is reported."""
