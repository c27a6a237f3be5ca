// Bounds of one JSON text from an upstream or a tool server. A text beyond them is refused before it is parsed.

/** Levels of nesting. Larger than what any client may send. */
export const MAX_ANSWER_DEPTH = 256;
/** Objects and arrays. Parsed, each takes far more memory than its two characters. */
export const MAX_ANSWER_NODES = 2_000_000;
