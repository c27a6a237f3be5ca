// Environment variables as they are given to whoever reads settings from them.

/** Environment variables by name; absent ones are undefined. */
export type Environment = Readonly<Record<string, string | undefined>>;
