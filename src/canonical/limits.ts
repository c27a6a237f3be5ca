// How much an upstream's answer may hold. Beyond each limit it is a broken or hostile upstream: the try fails with an
// error that names the limit, and other requests have the memory. Limits of requests are the configuration's.

const MIB = 1024 * 1024;

/** One event of a stream, in bytes. The largest honest ones hold a picture in base64. */
export const MAX_FRAME_BYTES = 32 * MIB;

/** How deep a JSON text of an upstream, or of a server of tools, may nest: deeper than any that a client may send. */
export const MAX_ANSWER_DEPTH = 256;
