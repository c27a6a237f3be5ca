// Mutated bodies against the parser of the runtime: the scan that comes before it refuses what it names, and nothing else,
// and finds each member where the parser does. FUZZ_SEED varies the bodies, FUZZ_RUNS=1000000 asks for so many of them,
// however long that takes; else they go on for two seconds and a half. A failure prints the seed and the shortest body
// that fails.
import { expect, test } from 'bun:test';
import fc from 'fast-check';
import { isJsonObject, scanJson } from '../../../src/base/json/index.ts';
import { GatewayError } from '../../../src/canonical/index.ts';
import { parseBody } from '../../../src/server/body/body.ts';

/** Bodies; undefined: as many as there is time for. */
const RUNS = process.env['FUZZ_RUNS'] === undefined ? undefined : Number(process.env['FUZZ_RUNS']);
const BUDGET_MS = 2500;
const TIMEOUT_MS = RUNS === undefined ? 20_000 : 60 * 60_000;
const SEED = Number(process.env['FUZZ_SEED'] ?? 20_261_121);

/** Half of them are strings of what is hard to read in JSON. */
const hardText = fc
  .array(
    fc.constantFrom('"', '\\', '/', '{', '[', ':', ',', 'a', '\n', 'é', '漢', '😀', '\u2028', '\u0000'),
    {
      maxLength: 6,
    },
  )
  .map((letters) => letters.join(''));
const json = fc.letrec((tie) => ({
  value: fc.oneof(
    { maxDepth: 5 },
    hardText,
    fc.double({ noNaN: true, noDefaultInfinity: true }),
    fc.constantFrom(null, true, false, 0, -1.5e-7),
    fc.array(tie('value'), { maxLength: 4 }),
    fc.dictionary(fc.oneof(hardText, fc.constantFrom('a', 'b', 'model')), tie('value'), { maxKeys: 16 }),
  ),
})).value;
/** Pieces that are put into a text, or in the place of some of it. */
const PIECES = [
  '"',
  '\\',
  '\\u',
  '\\ud8',
  '\\ud83d\\ude00',
  '\\u0061',
  '\\n',
  '{',
  '}',
  '[',
  ']',
  ':',
  ',',
  ' ',
];
const MORE_PIECES = ['0', '-', '.', 'e5', 'true', 'null', '\t', '//', "'", '{"a":1}', '\x01'];
/** Bytes of UTF-8, in pieces and whole; a byte order mark, a space that is none of JSON's, half of a pair as if it were text. */
const BYTES = [
  '\xc3',
  '\xa9',
  '\xe6\xbc',
  '\xff',
  '\xc3\xa9',
  '\xef\xbb\xbf',
  '\xc2\xa0',
  '\xed\xa0\x80',
  '\xc0\xaf',
];
const mutation = fc.record({
  at: fc.nat(),
  remove: fc.constantFrom(0, 0, 0, 1, 2, 5),
  insert: fc.oneof(
    fc.constant(''),
    fc.constantFrom(...PIECES),
    fc.constantFrom(...MORE_PIECES),
    fc.constantFrom(...BYTES),
  ),
});
/** A text of JSON and what becomes of it on its way, as bytes. */
function mutated(
  value: fc.Arbitrary<unknown>,
  spaces: readonly (string | number | undefined)[],
): fc.Arbitrary<Buffer> {
  return fc
    .record({
      value,
      space: fc.constantFrom(...spaces),
      escaped: fc.boolean(),
      mutations: fc.array(mutation, { maxLength: 3 }),
    })
    .map(({ value: chosen, space, escaped, mutations }) => {
      let written = JSON.stringify(chosen, null, space);
      if (escaped)
        written = written.replace(
          /[a-z\u0080-\uffff]/g,
          (letter) => `\\u${letter.charCodeAt(0).toString(16).padStart(4, '0')}`,
        );
      let bytes = Buffer.from(written).toString('latin1');
      for (const { at, remove, insert } of mutations) {
        const from = at % (bytes.length + 1);
        bytes = bytes.slice(0, from) + insert + bytes.slice(from + remove);
      }
      return Buffer.from(bytes, 'latin1');
    });
}

/** True when a parsed value holds what is refused. Names that stood twice in its text are not to be seen any more. */
function isRefused(value: unknown): boolean {
  if (typeof value === 'string') return !value.isWellFormed();
  if (typeof value !== 'object' || value === null) return false;
  return Object.entries(value).some(
    ([name, inner]) => name === '__proto__' || !name.isWellFormed() || isRefused(inner),
  );
}

/** Names in a parsed value. Those that stood twice in the text are there once. */
function namesIn(value: unknown): number {
  if (typeof value !== 'object' || value === null) return 0;
  const inner = Object.values(value);
  return inner.reduce((sum: number, each) => sum + namesIn(each), Array.isArray(value) ? 0 : inner.length);
}

/** The same in a text of JSON: a colon outside of a string follows each. */
function namesWritten(written: string): number {
  return written.replace(/"(?:[^"\\]|\\.)*"/gs, '').split(':').length - 1;
}

/** Result of the parser alone for a body; undefined when it refuses it. */
function parsed(bytes: Buffer): { readonly text: string; readonly value: unknown } | undefined {
  try {
    const text = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
    return { text, value: JSON.parse(text) };
  } catch {
    return undefined;
  }
}

/** Members of an object as the scan places them, each parsed by itself. */
function placed(bytes: Buffer): [name: string, value: unknown][] {
  return scanJson(bytes).members.map(({ name, from, valueFrom, to }) => {
    expect(JSON.parse(`{${bytes.toString('utf8', from, valueFrom)}0}`)).toEqual({ [name]: 0 });
    return [name, JSON.parse(bytes.toString('utf8', valueFrom, to))];
  });
}

function byName([one]: readonly [string, unknown], [other]: readonly [string, unknown]): number {
  return one < other ? -1 : 1;
}

/** Checks bodies. @returns how many were accepted, and refused */
function check(bodies: fc.Arbitrary<Buffer>): { accepted: number; refused: number } {
  let accepted = 0;
  let refused = 0;
  fc.assert(
    fc.property(bodies, (bytes) => {
      const expected = parsed(bytes);
      const isBad =
        !expected || isRefused(expected.value) || namesIn(expected.value) !== namesWritten(expected.text);
      if (isBad) {
        refused++;
        expect(() => parseBody(bytes)).toThrow(GatewayError);
      } else {
        accepted++;
        const { json: read, body } = parseBody(bytes);
        expect(read).toEqual(expected.value);
        expect(JSON.stringify(read)).toBe(JSON.stringify(expected.value));
        expect(body.bytes).toBe(bytes);
        const members = isJsonObject(read) ? Object.entries(read) : [];
        // The runtime lists names that are numbers first.
        expect(placed(bytes).toSorted(byName)).toEqual(members.toSorted(byName));
      }
    }),
    {
      seed: SEED,
      ...(RUNS === undefined
        ? { numRuns: 1_000_000, interruptAfterTimeLimit: BUDGET_MS }
        : { numRuns: RUNS }),
    },
  );
  return { accepted, refused };
}

test(
  'a body is accepted if the parser accepts it, except for named refusals',
  () => {
    const { accepted, refused } = check(mutated(json, [undefined, 1, '\t']));
    expect(accepted).toBeGreaterThan(300);
    expect(refused).toBeGreaterThan(100);
    if (RUNS === undefined) return;
    expect(accepted + refused).toBe(RUNS);
    console.log(`${accepted} bodies accepted, ${refused} refused, as the parser does`);
  },
  TIMEOUT_MS,
);
