// Parses YAML (including JSON) to plain data. The only file that imports the parser.
import { isMap, isScalar, isSeq, LineCounter, parseDocument } from 'yaml';
import { ConfigError } from './config-error.ts';

/**
 * Parses a file with keys and values. An empty file results in an empty object.
 * @param path path of the key that names the file, for errors; '' for the configuration itself
 * @param example example of such a file, for the error message
 * @throws ConfigError with line and column
 */
export function parseYaml(text: string, path: string, example: string): Record<string, unknown> {
  const document = parseDocument(text, { merge: true, prettyErrors: true });
  if (document.errors.length > 0) {
    const problems = document.errors.map(({ linePos, message }) => {
      const at = linePos?.[0];
      const where = at ? `line ${at.line}, column ${at.col}: ` : '';
      return `${where}${message.split('\n')[0]?.replace(/ at line \d+, column \d+:?$/, '') ?? 'not YAML'}`;
    });
    const all = problems.map((problem) => (path ? `${path}: ${problem}` : problem));
    throw new ConfigError(path, problems[0] ?? 'not YAML', all);
  }
  if (document.contents === null) return {};
  if (!isMap(document.contents))
    throw new ConfigError(path, `the file must contain keys and values, such as \`${example}\``);
  return plainOf(document, path);
}

/** Excessive aliases are only detected here. */
function plainOf(document: ReturnType<typeof parseDocument>, path: string): Record<string, unknown> {
  try {
    return document.toJS() as Record<string, unknown>;
  } catch {
    throw new ConfigError(path, 'the YAML aliases are invalid or expand to too much data');
  }
}

/**
 * Returns a function for line numbers, from 1: the line of the deepest part of a path that exists in the file.
 * Undefined: none does.
 */
export function linesIn(text: string): (path: readonly (string | number)[]) => number | undefined {
  const lineCounter = new LineCounter();
  const root = parseDocument(text, { lineCounter, logLevel: 'silent' }).contents;
  return (path) => {
    const offset = offsetOf(root, path);
    return offset === undefined ? undefined : lineCounter.linePos(offset).line;
  };
}

/** Offset of the deepest part of a path that exists in the file. Undefined: none does. */
function offsetOf(root: unknown, parts: readonly (string | number)[]): number | undefined {
  let node: unknown = root;
  let offset: number | undefined;
  for (let at = 0; at < parts.length; at += 1) {
    const part = parts[at];
    if (isSeq(node) && typeof part === 'number') {
      node = node.items[part];
      offset = startOf(node) ?? offset;
    } else if (isMap(node)) {
      // Key names may contain dots, so the longest existing one is used.
      const found = longestKey(node, parts.slice(at));
      if (!found) break;
      offset = startOf(found.key) ?? offset;
      node = found.value;
      at += found.parts - 1;
    } else break;
  }
  return offset;
}

function longestKey(
  node: { readonly items: readonly { readonly key: unknown; readonly value: unknown }[] },
  parts: readonly (string | number)[],
): { readonly key: unknown; readonly value: unknown; readonly parts: number } | undefined {
  for (let count = parts.length; count > 0; count -= 1) {
    const name = parts.slice(0, count).join('.');
    const pair = node.items.find(({ key }) => isScalar(key) && String(key.value) === name);
    if (pair) return { key: pair.key, value: pair.value, parts: count };
  }
  return undefined;
}

function startOf(node: unknown): number | undefined {
  const range = typeof node === 'object' && node !== null && 'range' in node ? node.range : undefined;
  return Array.isArray(range) && typeof range[0] === 'number' ? range[0] : undefined;
}
