// Routing defaults on the command line: JSON, or `only=openai,anthropic,hedge=true`. Same members and validation as in
// the configuration file.
import { describeIssues } from '../../catalog/schema/index.ts';
import { routingDefaultsSchema } from '../../accounts/schema/index.ts';
import type { RoutingDefaults } from '../../canonical/index.ts';
import { ConfigError } from './config-error.ts';
import { toScalar } from './interpolate.ts';
import { configNodeAt } from './schema/schema.ts';

/** Path of such a block in the file. */
const PLACE = ['routing', 'default'] as const;

/**
 * Parses and validates a block.
 * @param text a JSON object, or comma-separated `name=value` pairs; a list continues until the next `name=`, and
 * `max_price.prompt=3` sets a nested member
 * @param source for paths in errors, e.g. `--routing`
 * @throws ConfigError
 */
export function parseRouting(text: string, source: string): RoutingDefaults {
  const given = text.trimStart().startsWith('{') ? parseJson(text, source) : parsePairs(text, source);
  const checked = routingDefaultsSchema.safeParse(given);
  if (checked.success) return checked.data;
  const issues = checked.error.issues.map((issue) => ({ ...issue, path: [...PLACE, ...issue.path] }));
  const problems = describeIssues(issues, configNodeAt).map(({ path, message }) => ({
    path: source + path.slice(PLACE.join('.').length),
    message,
  }));
  const first = problems[0];
  throw new ConfigError(
    first?.path ?? source,
    first?.message ?? 'is not valid',
    problems.map(({ path, message }) => `${path}: ${message}`),
  );
}

/** A block as pairs for display, readable by `parseRouting`. */
export function formatRouting(words: RoutingDefaults): string {
  return Object.entries(words)
    .flatMap(([name, value]: [string, unknown]) =>
      typeof value === 'object' && value !== null && !Array.isArray(value)
        ? Object.entries(value).map(([inner, amount]) => `${name}.${inner}=${String(amount)}`)
        : value === undefined
          ? []
          : [`${name}=${String(value)}`],
    )
    .join(' ');
}

function parseJson(text: string, source: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw new ConfigError(source, 'is not valid JSON');
  }
}

function parsePairs(text: string, source: string): unknown {
  const pairs: { readonly name: string; readonly values: string[] }[] = [];
  for (const piece of text.split(',')) {
    const split = piece.indexOf('=');
    const last = pairs.at(-1);
    if (split > 0)
      pairs.push({ name: piece.slice(0, split).trim(), values: [piece.slice(split + 1).trim()] });
    else if (last) last.values.push(piece.trim());
    else
      throw new ConfigError(
        source,
        'must be a JSON object, or pairs such as only=openai,anthropic,hedge=true',
      );
  }
  // Maps, because a name may be any text; `Object.fromEntries` even accepts `__proto__`.
  const block = new Map<string, unknown>();
  const inner = new Map<string, Map<string, unknown>>();
  for (const { name, values } of pairs) {
    const path = name.split('.');
    const [outer = '', ...rest] = path;
    const key = rest.length > 0 ? rest.join('.') : outer;
    const target = rest.length > 0 ? (inner.get(outer) ?? new Map<string, unknown>()) : block;
    if (target.has(key)) throw new ConfigError(`${source}.${name}`, 'is set more than once');
    target.set(key, valueOf(values, path));
    if (target !== block) inner.set(outer, target);
  }
  for (const [name, members] of inner) block.set(name, Object.fromEntries(members));
  return Object.fromEntries(block);
}

/** Text converted to the type required by the schema, which refuses what does not fit. */
function valueOf(values: readonly string[], path: readonly string[]): unknown {
  const node = configNodeAt([...PLACE, ...path]);
  const types = node?.types ?? [];
  const [only = ''] = values;
  if (types.includes('array')) return values.length > 1 || !types.includes('string') ? values : only;
  return values.length > 1 ? values : toScalar(only, node);
}
