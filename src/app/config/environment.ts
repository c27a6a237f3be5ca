// Environment variables as passed to code that reads settings.

/** By name; absent ones are undefined. */
export type Environment = Readonly<Record<string, string | undefined>>;
