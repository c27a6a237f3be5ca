// How much an upstream's answer may hold. Beyond each limit it is a broken or hostile upstream: the try fails with an
// error that names the limit, and other requests have the memory. Limits of requests are the configuration's.

const MIB = 1024 * 1024;

/** One event of a stream, in bytes. The largest honest ones hold a picture in base64. */
export const MAX_FRAME_BYTES = 32 * MIB;
/** A whole answer, in bytes. */
export const MAX_ANSWER_BYTES = 64 * MIB;
/** A stream whose events are decoded, in bytes: a piece of text is a small part of the event that brings it. */
export const MAX_STREAM_BYTES = 256 * MIB;
/** Most bytes of a relayed stream that are held back for the first content. */
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
