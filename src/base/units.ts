// Units of time as types. A plain number, such as the result of arithmetic, can be used as either type. The compiler
// refuses a moment where a duration is expected, and the reverse.

/**
 * A moment in milliseconds since the Unix epoch, by the machine's clock or by the monotonic `Clock.now()`. Fields say which
 * one where it matters.
 */
export type UnixMs = number & { readonly unit?: 'unix_ms' };

/** A duration in milliseconds. */
export type DurationMs = number & { readonly unit?: 'ms' };
