// How much an upstream's answer may hold. Beyond each limit it is a broken or hostile upstream: the try fails with an
// error that names the limit, and other requests have the memory. Limits of requests are the configuration's.

const MIB = 1024 * 1024;

/** One event of a stream, in bytes. The largest honest ones hold a picture in base64. */
export const MAX_FRAME_BYTES = 32 * MIB;
/** A whole answer, in bytes. */
export const MAX_ANSWER_BYTES = 64 * MIB;
/** A stream whose events are decoded, in bytes: a piece of text is a small part of the event that brings it. */
export const MAX_STREAM_BYTES = 256 * MIB;
/** Of a relayed stream, what is held back for the first content, in bytes. */
export const MAX_HELD_BYTES = 32 * MIB;
/** Arguments of one call, in characters: they are parsed as a whole. */
export const MAX_ARGUMENT_CHARS = 16 * MIB;
/** Text, reasoning and arguments of all items. The longest answers of any model have about four million. */
export const MAX_ANSWER_CHARS = 64 * MIB;
/** Items, their parts and their sources, all together. */
export const MAX_ANSWER_ITEMS = 50_000;
/** Parts of one item. */
export const MAX_ITEM_PARTS = 4096;
/** An error answer, in bytes; what is longer is cut. */
export const MAX_ERROR_BYTES = 256 * 1024;
/** How deep a JSON text of an upstream, or of a server of tools, may nest: deeper than any that a client may send. */
export const MAX_ANSWER_DEPTH = 256;
/** Objects and arrays in one JSON text of theirs: parsed, each takes far more memory than its two characters. */
export const MAX_ANSWER_NODES = 2_000_000;
