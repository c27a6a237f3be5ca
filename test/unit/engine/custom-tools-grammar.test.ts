// The recogniser behind custom tools and schema patterns: against the runtime's own regular expressions, against texts
// that were made from their grammar, and against grammars that mean harm.
import { describe, expect, test } from 'bun:test';
import fc from 'fast-check';
import { GatewayError } from '../../../src/canonical/index.ts';
import {
  checkInput,
  compileGrammar,
  compilePattern,
  grammarCapacity,
  inputBudget,
} from '../../../src/engine/grammar/index.ts';
import { usedMs } from '../../../src/base/runtime/machine.ts';
import { casesOf } from '../../support/share.ts';

function outcome(syntax: 'lark' | 'regex', definition: string, input: string): string {
  const grammar = compileGrammar(syntax, definition, 'format.definition');
  return grammar.type === 'checkable' ? checkInput(grammar.machine, input, inputBudget()).type : grammar.type;
}
const lark = (definition: string, input: string): string => outcome('lark', definition, input);
const regex = (definition: string, input: string): string => outcome('regex', definition, input);
const matchesPattern = (pattern: string, text: string): boolean =>
  compilePattern(pattern, 'schema', grammarCapacity())(text, { steps: 1_000_000 });

/** Patterns that mean the same in Rust and in ECMAScript. */
const pattern = fc.letrec<{ whole: string; atom: string }>((tie) => ({
  whole: fc.oneof(
    { maxDepth: 4, withCrossShrink: true },
    tie('atom'),
    fc.tuple(tie('whole'), tie('whole')).map(([a, b]) => a + b),
    fc.tuple(tie('whole'), tie('whole')).map(([a, b]) => `(?:${a}|${b})`),
    fc
      .tuple(tie('whole'), fc.constantFrom('*', '+', '?', '{2}', '{1,3}', '{2,}', '*?', '+?'))
      .map(([a, q]) => `(?:${a})${q}`),
    tie('whole').map((a) => `(${a})`),
  ),
  atom: fc.constantFrom(
    'a',
    'b',
    'c',
    '.',
    '[ab]',
    '[^a]',
    '[a-c1]',
    '\\d',
    '\\.',
    '\\x61',
    '\\u0062',
    '^',
    '$',
    '\\b',
    'é',
    '💡',
    '',
  ),
})).whole;
const text = fc
  .array(fc.constantFrom('a', 'b', 'c', '1', '.', ' ', '\n', 'é', '💡'), { maxLength: 8 })
  .map((all) => all.join(''));

describe('regular expressions', () => {
  test('match the same texts as those of the runtime', () => {
    fc.assert(
      fc.property(pattern, text, (source, input) => {
        // Letters beyond ASCII are part of words in Rust only.
        if (!source.includes('\\b') || !input.includes('é'))
          expect(regex(source, input) === 'match').toBe(new RegExp(`^(?:${source})$`, 'u').test(input));
        expect(matchesPattern(source, input)).toBe(new RegExp(source, 'u').test(input));
      }),
      { numRuns: casesOf(3000) },
    );
  });

  test.each([
    ['(?i)select', 'SeLeCt', 'match'],
    ['(?i:a)b', 'AB', 'mismatch'],
    ['(?s).', '\n', 'match'],
    ['(?x) a b # c', 'ab', 'match'],
    ['(?m)^b$', 'b', 'match'],
    ['(?P<year>\\d{4})-(?<month>\\d\\d)', '2026-11', 'match'],
    ['\\d', '٣', 'match'],
    ['\\p{Greek}+', 'αβγ', 'match'],
    ['\\pL\\p{Lu}', 'aA', 'match'],
    ['[[:alpha:]_]+', 'ab_', 'match'],
    ['[a-z&&[^aeiou]]+', 'xyz', 'match'],
    ['[a-z&&[^aeiou]]+', 'xaz', 'mismatch'],
    ['[]a]+', ']a', 'match'],
    ['[^]]', ']', 'mismatch'],
    ['a{,2}', 'a{,2}', 'match'],
    ['\\A\\x{1F4A1}\\z', '💡', 'match'],
    ['(a)\\1', 'aa', 'uncheckable'],
    ['(?<!a)b', 'b', 'uncheckable'],
  ])('the expression %p on %p gives %s', (source, input, expected) =>
    expect(regex(source, input)).toBe(expected),
  );

  test.each(['(a+)+$', '(a|a)*$', '(.*)*x', '(a?){30}a{30}b', '([a-z]+)*\\d'])(
    '%p is decided in linear time',
    (source) => {
      const input = 'a'.repeat(20_000);
      const started = usedMs();
      matchesPattern(source, `${input}!`);
      expect(usedMs() - started).toBeLessThan(3000);
    },
  );
});

const CALCULATOR = `
// A sum of products.
?start: sum
sum: product (("+" | "-") product)* -> sum
product: atom (("*" | "/") atom)*
atom.2: NUMBER | "-" atom | "(" sum ")"
%import common.NUMBER
%import common.WS_INLINE
%ignore WS_INLINE
`;

describe('Lark', () => {
  test.each([
    [CALCULATOR, '1 + 2*(3 - -4.5e3) ', 'match'],
    [CALCULATOR, '1 + 2*(3', 'mismatch'],
    ['start: "select"i NAME\nNAME: /[a-z]+/', 'SELECTabc', 'match'],
    ['start: A~2..3\nA: "a".."c"', 'abc', 'match'],
    ['start: A~2..3\nA: "a".."c"', 'a', 'mismatch'],
    ['start: A{2} B{,1}\nA: "a"\nB: "b"', 'aab', 'match'],
    ['start: ["+"] INT\n%import common.INT', '42', 'match'],
    ['start: word\n  | word "," start\nword: WORD\n%import common (WORD, INT)', 'a,b,c', 'match'],
    ['%import common.CNAME -> NAME\nstart: NAME', '_x1', 'match'],
    ['start: "a" start "b" | ', 'aaabbb', 'match'],
    ['start: "a" start "b" | ', 'aaabb', 'mismatch'],
    ['start: start "a" | "a"', 'aaaa', 'match'],
    ['start: x\nx: x | "a"', 'a', 'match'],
    ['start: /\\/\\/.*/', '// remark', 'match'],
    ['start: /a.b/s', 'a\nb', 'match'],
    ['start: "\\n" "\\"" "\\\\"', '\n"\\', 'match'],
    ['start: ESCAPED_STRING\n%import common.ESCAPED_STRING', '"a \\" b"', 'match'],
    // Inside a terminal nothing is ignored.
    ['start: AB\nAB: "a" "b"\n%ignore " "', 'a b', 'mismatch'],
    ['start: "a" "b"\n%ignore " "', ' a  b ', 'match'],
    ['start: %json {"type": "object"}', '{}', 'uncheckable'],
    ['start: a\n%declare X\na: "b"', 'b', 'uncheckable'],
    ['start[stop="x"]: /.*/', 'b', 'uncheckable'],
    ['start: D\n%import other.D', 'b', 'uncheckable'],
  ])('the expression %p on %p gives %s', (grammar, input, expected) =>
    expect(lark(grammar, input)).toBe(expected),
  );

  test('the grammar of patches accepts patches of coding agents', () => {
    const grammar = `start: begin hunk+ end
begin: "*** Begin Patch" LF
end: "*** End Patch" LF?
hunk: "*** Update File: " name LF change+
name: /(.+)/
change: ("@@" | "@@ " /(.+)/) LF | ("+" | "-" | " ") /(.*)/ LF
%import common.LF`;
    const lines = '@@ here\n+ more\n- less\n  same\n'.repeat(200);
    const patch = `*** Begin Patch\n*** Update File: a.ts\n${lines}*** End Patch`;
    expect(lark(grammar, patch)).toBe('match');
    expect(lark(grammar, patch.replace('- less', '= less'))).toBe('mismatch');
  });

  type Node = { readonly source: string; readonly make: (choose: () => number) => string };
  const leaf = fc.constantFrom<Node>(
    { source: '"ab"', make: () => 'ab' },
    { source: '/[0-9]+/', make: (choose) => String(Math.floor(choose() * 1000)) },
    { source: '"x"i', make: (choose) => (choose() < 0.5 ? 'x' : 'X') },
    { source: 'WORD', make: (choose) => (choose() < 0.5 ? 'w' : 'word') },
  );
  const times = (node: Node, min: number, max: number, mark: string): Node => ({
    source: `(${node.source})${mark}`,
    make: (choose) =>
      Array.from({ length: min + Math.floor(choose() * (max - min + 1)) }, () => node.make(choose)).join(''),
  });
  const grammar = fc.letrec<{ node: Node }>((tie) => ({
    node: fc.oneof(
      { maxDepth: 4, withCrossShrink: true },
      leaf,
      fc.tuple(tie('node'), tie('node')).map(([a, b]) => ({
        source: `${a.source} ${b.source}`,
        make: (choose: () => number) => a.make(choose) + b.make(choose),
      })),
      fc.tuple(tie('node'), tie('node')).map(([a, b]) => ({
        source: `(${a.source} | ${b.source})`,
        make: (choose: () => number) => (choose() < 0.5 ? a : b).make(choose),
      })),
      tie('node').map((node) => times(node, 0, 2, '*')),
      tie('node').map((node) => times(node, 1, 3, '+')),
      tie('node').map((node) => times(node, 1, 2, '~1..2')),
    ),
  })).node;

  test('accepts any text generated from a grammar, and none with a foreign character', () => {
    fc.assert(
      fc.property(
        grammar,
        fc.array(fc.double({ min: 0, max: 0.999, noNaN: true }), { minLength: 1 }),
        (node, dice) => {
          let at = 0;
          const made = node.make(() => dice[at++ % dice.length] ?? 0);
          const definition = `start: body\nbody: ${node.source}\n%import common.WORD`;
          expect(['match', 'gave_up']).toContain(lark(definition, made));
          expect(['mismatch', 'gave_up']).toContain(lark(definition, `${made}#`));
        },
      ),
      { numRuns: casesOf(500) },
    );
  });

  test('any text of a grammar gets a quick verdict, or an error that names it', () => {
    const piece = fc.constantFrom(
      'start',
      ':',
      'a',
      'A',
      '"a"',
      '/a*/',
      '/(a/',
      '|',
      '(',
      ')',
      '[',
      ']',
      '*',
      '+',
      '?',
      '~',
      '9',
      '..',
      '->',
      '\n',
      '%ignore',
      '%import',
      'common',
      '.',
      'WS',
      '//x\n',
      '{',
      '}',
      ',',
      '"',
      '/',
      '\\',
      '<',
      '💡',
    );
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 40 }), (pieces) => {
        const started = usedMs();
        try {
          lark(`start: ${pieces.join(' ')}`, 'aaaa');
        } catch (error) {
          expect(error).toBeInstanceOf(GatewayError);
          expect((error as GatewayError).param).toBe('format.definition');
        }
        expect(usedMs() - started).toBeLessThan(1000);
      }),
      { numRuns: casesOf(1000) },
    );
  });

  test.each([
    'start: start start | "a" |',
    'start: a a a a a a\na: b b b b\nb: "a"* "a"* "a"* |',
    `start: x0\n${Array.from({ length: 30 }, (_, i) => `x${i}: x${i + 1} x${i + 1}`).join('\n')}\nx30: "a" |`,
    `start: ${'('.repeat(150)}"a"${')*'.repeat(150)}`,
    'start: "a"~1..5000 "a"~1..5000',
    `start: A\n${Array.from({ length: 40 }, (_, i) => `${'A'.repeat(i + 1)}: ${'A'.repeat(i + 2)} ${'A'.repeat(i + 2)}`).join('\n')}\n${'A'.repeat(41)}: "a"`,
    `start: /${'{'.repeat(50_000)}/`,
    `start: "${'a'.repeat(90_000)}"`,
  ])('a hostile grammar ends: %p', (definition) => {
    const started = usedMs();
    expect(['match', 'mismatch', 'gave_up', 'uncheckable']).toContain(
      lark(definition, `${'a'.repeat(3000)}b`),
    );
    expect(usedMs() - started).toBeLessThan(2000);
  });
});
