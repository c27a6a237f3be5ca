// Semantics of a Lark grammar: resolves terminals and imports, and allows ignored text after each terminal.
import { exactly, literal, membersSet } from './char-set.ts';
import { choice, type Expression, EMPTY_EXPRESSION, sequence } from './expression.ts';
import type { LarkGrammar, LarkNode } from './parse-lark.ts';
import { parseRegex } from './parse-regex.ts';
import { cannotCheck, broken } from './problem.ts';

/** Reserved names that no grammar can define. */
const BEGIN = '%begin';
const IGNORED = '%ignored';

/**
 * Converts a grammar to rules. Terminals are not matched greedily: a text matches if any split into terminals does.
 * @param path of the grammar in the client's body
 * @returns the rules, and the name of the first
 * @throws GatewayError `invalid_request` for an invalid grammar, `unsupported` for one that cannot be checked
 */
export function larkRules(
  grammar: LarkGrammar,
  path: string,
): { readonly rules: ReadonlyMap<string, Expression>; readonly first: string } {
  const { definitions, imports, ignored } = grammar;
  if (!definitions.has('start')) throw broken(path, 'the rule `start` is not defined');
  const rules = new Map<string, Expression>();
  for (const [name, original] of imports) {
    const pattern = COMMON_TERMINALS.get(original);
    if (pattern === undefined) throw cannotCheck(path, `common.${original} is not supported`);
    rules.set(name, parseRegex(pattern, 'rust', '', path));
  }
  refuseRecursion(definitions, path);
  const gap: Expression = ignored.length > 0 ? { type: 'call', name: IGNORED } : EMPTY_EXPRESSION;
  const toExpression = (node: LarkNode, inTerminal: boolean): Expression => {
    /** Allows ignored text after a terminal in a rule. */
    const closed = (terminal: Expression): Expression =>
      inTerminal || gap === EMPTY_EXPRESSION ? terminal : sequence([terminal, gap]);
    switch (node.type) {
      case 'literal':
        return closed(
          sequence(
            Array.from(node.text, (char) => ({
              type: 'char',
              set: exactly(char.codePointAt(0) ?? 0, node.ignoreCase),
            })),
          ),
        );
      case 'range': {
        const [from, to] = [node.from.codePointAt(0) ?? 0, node.to.codePointAt(0) ?? 0];
        if (to < from) throw broken(path, 'a character range is out of order');
        const set = membersSet(`${literal(from)}-${literal(to)}`, false, false);
        return closed({ type: 'char', set });
      }
      case 'regex':
        return closed(parseRegex(node.text, 'rust', node.flags, path));
      case 'name': {
        const { name } = node;
        if (!definitions.has(name) && !imports.has(name)) throw broken(path, `${name} is not defined`);
        if (inTerminal && !isTerminal(name)) throw broken(path, `a terminal uses the rule ${name}`);
        return isTerminal(name) ? closed({ type: 'call', name }) : { type: 'call', name };
      }
      case 'sequence':
        return sequence(node.parts.map((part) => toExpression(part, inTerminal)));
      case 'choice':
        return choice(node.options.map((option) => toExpression(option, inTerminal)));
      case 'repeat':
        return { type: 'repeat', body: toExpression(node.body, inTerminal), min: node.min, max: node.max };
    }
  };
  for (const [name, node] of definitions) rules.set(name, toExpression(node, isTerminal(name)));
  rules.set(BEGIN, sequence([gap, { type: 'call', name: 'start' }]));
  rules.set(IGNORED, {
    type: 'repeat',
    body: choice([...ignored.map((node) => toExpression(node, true)), EMPTY_EXPRESSION]),
    min: 0,
    max: null,
  });
  return { rules, first: BEGIN };
}

function isTerminal(name: string): boolean {
  return /^_*[A-Z]/.test(name);
}

/** Terminals are regular, so a terminal must not contain itself. */
function refuseRecursion(definitions: ReadonlyMap<string, LarkNode>, path: string): void {
  const done = new Set<string>();
  const visit = (name: string, within: ReadonlySet<string>): void => {
    if (within.has(name)) throw broken(path, `the terminal ${name} is part of itself`);
    if (done.has(name) || within.size > MOST_TERMINALS_DEEP) return;
    const node = definitions.get(name);
    if (node) for (const inner of namesIn(node)) visit(inner, new Set(within).add(name));
    done.add(name);
  };
  for (const name of definitions.keys()) if (isTerminal(name)) visit(name, new Set());
}

/** Maximum depth to which chains of terminals are checked for recursion; the recogniser tolerates deeper ones. */
const MOST_TERMINALS_DEEP = 500;

function namesIn(node: LarkNode): readonly string[] {
  switch (node.type) {
    case 'name':
      return isTerminal(node.name) ? [node.name] : [];
    case 'sequence':
      return node.parts.flatMap(namesIn);
    case 'choice':
      return node.options.flatMap(namesIn);
    case 'repeat':
      return namesIn(node.body);
    default:
      return [];
  }
}

// Terminals that a Lark grammar may import from `common`, as regular expressions in Rust's syntax. From the
// documentation of Lark 1.x ("Grammar Reference", `%import common`, read 2026-11).

const COMMON_TERMINALS: ReadonlyMap<string, string> = new Map([
  ['DIGIT', '[0-9]'],
  ['HEXDIGIT', '[0-9a-fA-F]'],
  ['INT', '[0-9]+'],
  ['SIGNED_INT', '[+-]?[0-9]+'],
  ['DECIMAL', '[0-9]+\\.[0-9]*|\\.[0-9]+'],
  ['FLOAT', '[0-9]+[eE][+-]?[0-9]+|([0-9]+\\.[0-9]*|\\.[0-9]+)([eE][+-]?[0-9]+)?'],
  ['SIGNED_FLOAT', '[+-]?([0-9]+[eE][+-]?[0-9]+|([0-9]+\\.[0-9]*|\\.[0-9]+)([eE][+-]?[0-9]+)?)'],
  ['NUMBER', '([0-9]+\\.?[0-9]*|\\.[0-9]+)([eE][+-]?[0-9]+)?'],
  ['SIGNED_NUMBER', '[+-]?([0-9]+\\.?[0-9]*|\\.[0-9]+)([eE][+-]?[0-9]+)?'],
  ['ESCAPED_STRING', '"([^"\\\\\\n]|\\\\.)*"'],
  ['LCASE_LETTER', '[a-z]'],
  ['UCASE_LETTER', '[A-Z]'],
  ['LETTER', '[a-zA-Z]'],
  ['WORD', '[a-zA-Z]+'],
  ['CNAME', '[_a-zA-Z][_a-zA-Z0-9]*'],
  ['WS_INLINE', '[ \\t]+'],
  ['WS', '[ \\t\\f\\r\\n]+'],
  ['CR', '\\r'],
  ['LF', '\\n'],
  ['NEWLINE', '(\\r?\\n)+'],
  ['SH_COMMENT', '#[^\\n]*'],
  ['CPP_COMMENT', '//[^\\n]*'],
  ['C_COMMENT', '/\\*([^*]|\\*+[^*/])*\\*+/'],
  ['SQL_COMMENT', '--[^\\n]*'],
]);
