// `${VAR}`, `${VAR:-default}` and `file:/…` in configuration values. Works on plain data, before it is checked;
// the schema says where numbers and secrets belong. Reads no file and no environment by itself.
import { ConfigError, formatPath } from './config-error.ts';
import type { Environment } from './environment.ts';
import type { SchemaNode } from './schema/schema-node.ts';

export interface InterpolateInput {
  readonly environment: Environment;
  /** Reads the file behind `file:/path`; throws when it cannot. */
  readonly readFile: (path: string) => string;
  /** What may stand at a path. */
  readonly nodeAt: (path: readonly PropertyKey[]) => SchemaNode | undefined;
}

/**
 * A copy of `value` in which every reference is replaced.
 * @throws ConfigError naming the key whose variable or file is missing
 */
export function interpolate(value: unknown, input: InterpolateInput): unknown {
  return walk(value, [], input);
}

function walk(value: unknown, path: readonly PropertyKey[], input: InterpolateInput): unknown {
  if (typeof value === 'string') return replace(value, path, input);
  if (Array.isArray(value)) return value.map((item, index) => walk(item, [...path, index], input));
  if (typeof value !== 'object' || value === null) return value;
  const result: Record<string, unknown> = {};
  for (const [key, member] of Object.entries(value)) {
    // A member called `__proto__` would be lost by plain assignment, and with it the error about it.
    Object.defineProperty(result, key, {
      value: walk(member, [...path, key], input),
      enumerable: true,
      writable: true,
      configurable: true,
    });
  }
  return result;
}

const REFERENCE = /\$(\$)?\{([^}]*)\}/g;
const NAME = /^[A-Za-z_][A-Za-z0-9_]*$/;

function replace(text: string, path: readonly PropertyKey[], input: InterpolateInput): unknown {
  let replaced = text;
  if (text.includes('${')) {
    // `$${` stands for a literal `${`.
    replaced = text.replace(REFERENCE, (whole: string, escaped: string | undefined, inner: string) =>
      escaped ? whole.slice(1) : variable(inner, path, input.environment),
    );
  }
  const isFile = replaced.startsWith('file:/');
  if (replaced === text && !isFile) return text;
  const node = input.nodeAt(path);
  if (node?.secret && isFile) return secretFile(replaced.slice('file:'.length), path, input);
  return replaced === text ? text : toScalar(replaced, node);
}

function variable(inner: string, path: readonly PropertyKey[], environment: Environment): string {
  const split = inner.indexOf(':-');
  const name = split < 0 ? inner : inner.slice(0, split);
  if (!NAME.test(name))
    throw new ConfigError(formatPath(path), `"\${${inner}}" does not name an environment variable`);
  const value = environment[name];
  if (split >= 0) return value === undefined || value === '' ? inner.slice(split + 2) : value;
  if (value === undefined) {
    throw new ConfigError(
      formatPath(path),
      `the environment variable ${name} is not set; set it, or write \${${name}:-} if it may be empty`,
    );
  }
  return value;
}

function secretFile(file: string, path: readonly PropertyKey[], input: InterpolateInput): string {
  try {
    // Editors and secret mounts end files with a newline that belongs to no key.
    return input.readFile(file).replace(/[\r\n]+$/, '');
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    throw new ConfigError(formatPath(path), `cannot read the file ${file}: ${reason}`);
  }
}

/** A variable is always text; where the schema wants a number or a switch, it is read as one. */
export function toScalar(text: string, node: SchemaNode | undefined): unknown {
  const types = node?.types ?? [];
  if (types.includes('string')) return text;
  if (
    (types.includes('number') || types.includes('integer')) &&
    text.trim() !== '' &&
    Number.isFinite(Number(text))
  ) {
    return Number(text);
  }
  if (types.includes('boolean') && (text === 'true' || text === 'false')) return text === 'true';
  return text;
}
