// The one error of the configuration: the path of the wrong key and a sentence. What becomes of it (exit code 2,
// a refused reload) is decided elsewhere.

export class ConfigError extends Error {
  /** Dotted path of the key in the file, e.g. `routing.timeouts.idle_ms`; '' for the file as a whole. */
  readonly path: string;
  /** Every problem found, the first one included, each with its path in front. */
  readonly problems: readonly string[];

  constructor(path: string, message: string, problems: readonly string[] = []) {
    const first = path ? `${path}: ${message}` : message;
    const all = problems.length > 0 ? problems : [first];
    super(all.join('\n'));
    this.name = 'ConfigError';
    this.path = path;
    this.problems = all;
  }
}
