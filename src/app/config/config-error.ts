// Error in the configuration: path of the key and a sentence. Callers decide its effect (exit code 2, a refused
// reload).

export class ConfigError extends Error {
  /** Dotted path of the key in the file, e.g. `routing.timeouts.idle_ms`; '' for the file as a whole. */
  readonly path: string;
  /** All problems including the first, each prefixed with its path. */
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
