// The only file that reads the process environment. Everybody else is given a record, so that tests can make one.

/** Environment variables by name; absent ones are undefined. */
export type Environment = Readonly<Record<string, string | undefined>>;

/** A frozen copy of the environment as it is now. */
export function readEnvironment(): Environment {
  return Object.freeze({ ...process.env });
}
