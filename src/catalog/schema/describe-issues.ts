// Describes schema violations as sentences, with the full path, and the most similar known name for an unknown key.
// Never contains values, which may be secret.
import type { z } from 'zod';
import { nearest } from '../index.ts';
import type { SchemaNode } from './schema-node.ts';

export interface Problem {
  readonly path: string;
  readonly message: string;
}

type Issue = z.core.$ZodIssue;

/** Zod's default message for a union. */
const UNION_MESSAGE = 'Invalid input';

/** Zod's message for a wrong type. */
const WRONG_TYPE = /^Invalid input: expected (\w+), received (\w+)$/;

/** The part of a schema at a path. */
type NodeAt = (path: readonly PropertyKey[]) => SchemaNode | undefined;

/** One problem per invalid key, in the schema's order. @param nodeAt the schema, for known names */
export function describeIssues(issues: readonly Issue[], nodeAt: NodeAt): readonly Problem[] {
  return issues.flatMap((issue) => describe(issue, issue.path, nodeAt));
}

function describe(issue: Issue, path: readonly PropertyKey[], nodeAt: NodeAt): readonly Problem[] {
  if (issue.code === 'unrecognized_keys') {
    const known = [...(nodeAt(path)?.members.keys() ?? [])];
    return issue.keys.map((key) => ({
      path: formatPath([...path, key]),
      message: `unknown key${suggestion(key, known)}`,
    }));
  }
  // A union's own message is preferred, unless the value partly matches one of the alternatives.
  if (issue.code === 'invalid_union' && (issue.message === UNION_MESSAGE || depthOf(issue.errors) > 0)) {
    const branch = closestBranch(issue.errors);
    if (branch) return branch.flatMap((inner) => describe(inner, [...path, ...inner.path], nodeAt));
  }
  if (issue.code === 'invalid_key') {
    const reason = issue.issues[0]?.message ?? 'not a valid name';
    return [
      {
        path: formatPath(path),
        message: `${reason}${suggestion(String(path.at(-1)), namesBeside(path, nodeAt))}`,
      },
    ];
  }
  return [{ path: formatPath(path), message: reword(issue.message) }];
}

/** The alternative that was probably meant: the one with the deepest problems. */
function closestBranch(branches: readonly (readonly Issue[])[]): readonly Issue[] | undefined {
  let best: readonly Issue[] | undefined;
  let bestDepth = -1;
  for (const branch of branches) {
    const depth = depthOf([branch]);
    // Later alternatives are more specific, so they win ties.
    if (depth >= bestDepth) {
      best = branch;
      bestDepth = depth;
    }
  }
  return best;
}

/** Depth of the deepest problem below the union. */
function depthOf(branches: readonly (readonly Issue[])[]): number {
  return Math.max(
    ...branches.flat().map((issue) => issue.path.length + (issue.code === 'unrecognized_keys' ? 1 : 0)),
  );
}

function namesBeside(path: readonly PropertyKey[], nodeAt: NodeAt): readonly string[] {
  return [...(nodeAt(path.slice(0, -1))?.members.keys() ?? [])];
}

function suggestion(key: string, known: readonly string[]): string {
  const near = nearest(key, known, 1)[0];
  if (near !== undefined) return `; did you mean "${near}"?`;
  return known.length > 0 && known.length <= 12 ? `; valid names are ${known.join(', ')}` : '';
}

/** Rewords a problem like the gateway's other errors. */
function reword(message: string): string {
  const [, expected, received] = WRONG_TYPE.exec(message) ?? [];
  if (expected === undefined || received === undefined)
    return message.charAt(0).toLowerCase() + message.slice(1);
  if (received === 'undefined') return 'is required';
  return `must be ${withArticle(expected)}, not ${withArticle(received)}`;
}

function withArticle(type: string): string {
  if (type === 'null' || type === 'NaN') return type;
  const word = type === 'record' ? 'object' : type;
  return `${/^[aeiou]/.test(word) ? 'an' : 'a'} ${word}`;
}

// Paths in a configuration or body.

/** Formats `['models', 0, 'id']` as `models[0].id`. */
export function formatPath(path: readonly PropertyKey[]): string {
  let text = '';
  for (const part of path) {
    if (typeof part === 'number') text += `[${part}]`;
    else text += text ? `.${String(part)}` : String(part);
  }
  return text;
}
