// Replaces `${VAR}`, `${VAR:-default}` and `file:/…` in configuration values before validation. The schema says where
// numbers and secrets belong.
import { formatPath, type SchemaNode } from '../../catalog/schema/index.ts';
import { ConfigError } from './config-error.ts';
import type { Draft } from './draft.ts';
import type { Environment } from './environment.ts';
import type { References } from './references.ts';
import { errorText } from '../../base/lib/errors.ts';

export interface InterpolateInput {
  readonly environment: Environment;
  /** Reads the file behind `file:/path`; throws when it cannot. */
  readonly readFile: (path: string) => string;
  /** Called for a missing variable or file, whose value is then empty. Absent: the first one is thrown. */
  readonly refuse?: ((problem: ConfigError) => void) | undefined;
  /** Schema of the values at a path. */
  readonly nodeAt: (path: readonly PropertyKey[]) => SchemaNode | undefined;
  /** Collects each value with its reference. */
  readonly references: References;
  /** Stand-ins for a draft, in which nothing is resolved. Absent: everything is resolved. */
  readonly draft?: Draft | undefined;
}

/**
 * A copy of `value` with all references replaced.
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
    // Plain assignment would lose a member called `__proto__`, and with it the error about it.
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
  let isOpen = false;
  if (text.includes('${')) {
    // `$${` stands for a literal `${`.
    replaced = text.replace(REFERENCE, (whole: string, escaped: string | undefined, inner: string) => {
      if (escaped) return whole.slice(1);
      const { name, value, isDefault } = variable(inner, path, input);
      if (isDefault) return value;
      if (input.draft) {
        isOpen = true;
        return input.draft.textOf(name, whole, input.references);
      }
      input.references.note(value, whole);
      return value;
    });
  }
  const isFile = replaced.startsWith('file:/');
  if (replaced === text && !isFile) return text;
  const node = input.nodeAt(path);
  if (input.draft && isOpen) return input.draft.placeholder(path, replaced, node);
  if (node?.secret && isFile) return secretFile({ text, file: replaced.slice('file:'.length) }, path, input);
  return replaced === text ? text : toScalar(replaced, node);
}

function refuse(path: readonly PropertyKey[], message: string, input: InterpolateInput): void {
  const problem = new ConfigError(formatPath(path), message);
  if (!input.refuse) throw problem;
  input.refuse(problem);
}

interface Variable {
  readonly name: string;
  readonly value: string;
  /** True: the value is not from the environment, but the default in the file, or missing. */
  readonly isDefault: boolean;
}

function variable(inner: string, path: readonly PropertyKey[], input: InterpolateInput): Variable {
  const { environment } = input;
  const split = inner.indexOf(':-');
  const name = split < 0 ? inner : inner.slice(0, split);
  if (!NAME.test(name)) {
    refuse(path, `"\${${inner}}" is not a valid reference to an environment variable`, input);
    return { name, value: '', isDefault: true };
  }
  const value = environment[name];
  if (split >= 0 && (value === undefined || value === ''))
    return { name, value: inner.slice(split + 2), isDefault: true };
  if (value === undefined) {
    refuse(
      path,
      `the environment variable ${name} is not set; set it, or write \${${name}:-} if it may be empty`,
      input,
    );
    return { name, value: '', isDefault: true };
  }
  return { name, value, isDefault: false };
}

/** @param reference the reference as written, and the file path in it */
function secretFile(
  { text, file }: { readonly text: string; readonly file: string },
  path: readonly PropertyKey[],
  input: InterpolateInput,
): unknown {
  const { draft, references, readFile, nodeAt } = input;
  try {
    if (draft) {
      draft.checkFile(file);
      return draft.placeholder(
        path,
        draft.textOf(`file-${formatPath(path)}`, text, references),
        nodeAt(path),
      );
    }
    // Editors and secret mounts end files with a newline that does not belong to the value.
    const value = readFile(file).replace(/[\r\n]+$/, '');
    references.note(value, text);
    return value;
  } catch (error) {
    const reason = errorText(error);
    refuse(path, `cannot read the file ${file}: ${reason}`, input);
    return '';
  }
}

/** Converts text to a number or boolean if the schema requires one, because variables are always text. */
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
