// Units of time as types: a number that is a moment, and a number that is a duration. A plain number, such as the result of
// arithmetic, may become either; a moment where a duration is asked for is refused by the compiler, and the reverse.

/**
 * A moment in milliseconds since the Unix epoch: by the machine's clock, or by `Clock.now()`, which only goes forward. A field
 * says which where it matters.
 */
export type UnixMs = number & { readonly unit?: 'unix_ms' };

/** A duration in milliseconds. */
export type DurationMs = number & { readonly unit?: 'ms' };
