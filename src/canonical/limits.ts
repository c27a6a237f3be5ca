// Size limits of upstream answers. An answer beyond them comes from a broken or hostile upstream: the attempt fails with an
// error that names the limit. Limits of requests are part of the configuration.

const MIB = 1024 * 1024;

/** One event of a stream, in bytes. The largest legitimate ones contain an image in base64. */
export const MAX_FRAME_BYTES = 32 * MIB;
/** A whole answer, in bytes. */
export const MAX_ANSWER_BYTES = 64 * MIB;
/** A stream whose events are decoded, in bytes. The text is only a small part of its events. */
export const MAX_STREAM_BYTES = 256 * MIB;
/** Bytes of a relayed stream that are held back until its first content. */
export const MAX_HELD_BYTES = 32 * MIB;
/** Arguments of one call, in characters. They are parsed as a whole. */
export const MAX_ARGUMENT_CHARS = 16 * MIB;
/** Characters of text, reasoning and arguments in all items. The longest answers of any model have about 4 million. */
export const MAX_ANSWER_CHARS = 64 * MIB;
/** Number of items, parts and sources together. */
export const MAX_ANSWER_ITEMS = 50_000;
/** Number of parts of one item. */
export const MAX_ITEM_PARTS = 4096;
/** An error response, in bytes. Longer ones are truncated. */
export const MAX_ERROR_BYTES = 256 * 1024;
