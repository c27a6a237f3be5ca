// The only file that reads the process environment. All other code receives it as an argument, so that tests can set it.

/** A frozen copy of the current environment, by name. */
export function readEnvironment(): Readonly<Record<string, string | undefined>> {
  return Object.freeze({ ...process.env });
}
