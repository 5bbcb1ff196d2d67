package io.rdma4j.connection;

/** A number on the wire that has words for it. */
interface NumberedText {
    /** {@return the number on the wire} */
    int code();

    /** {@return it in words} */
    String text();

    /** {@return a code in words, also one that is not known} */
    static String text(NumberedText[] known, int code, String otherwise) {
        for (NumberedText one : known) {
            if (one.code() == code) {
                return one.text();
            }
        }
        return otherwise;
    }
}
