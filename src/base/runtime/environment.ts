// The only file that reads the process environment. Everybody else is given a record, so that tests can make one.

/** A frozen copy of the environment as it is now, by name. */
export function readEnvironment(): Readonly<Record<string, string | undefined>> {
  return Object.freeze({ ...process.env });
}
