import { expect, test } from 'bun:test';
import fc from 'fast-check';
import type { CanonicalEvent } from '../../../../src/canonical/index.ts';
import { StopCutter } from '../../../../src/engine/adapt/stop-cutter.ts';
import { casesOf } from '../../../support/share.ts';

function cut(
  pieces: readonly string[],
  sequences: readonly string[],
): { text: string; matched: string | undefined } {
  let text = '';
  const cutter = new StopCutter(
    { on: (event: CanonicalEvent) => (text += event.type === 'text' ? event.text : '') },
    sequences,
    () => {},
  );
  cutter.on({ type: 'open', index: 0, item: { type: 'message' } });
  for (const piece of pieces) cutter.on({ type: 'text', index: 0, part: 0, kind: 'text', text: piece });
  cutter.on({ type: 'close', index: 0 });
  cutter.on({ type: 'finish', reason: 'stop' });
  return { text, matched: cutter.matched };
}

test('any split of any text is cut like the whole text', () => {
  const letters = fc
    .array(fc.constantFrom('a', 'b', 'é', '\n'), { maxLength: 30 })
    .map((list) => list.join(''));
  fc.assert(
    fc.property(
      fc.array(letters),
      fc.array(
        letters.filter((s) => s.length > 0 && s.length < 5),
        { maxLength: 4 },
      ),
      (pieces, sequences) => {
        const whole = pieces.join('');
        const matches = sequences
          .map((sequence) => ({
            at: whole.indexOf(sequence),
            end: whole.indexOf(sequence) + sequence.length,
          }))
          .filter((match) => match.at >= 0)
          .toSorted((a, b) => a.end - b.end || a.at - b.at);
        expect(cut(pieces, sequences).text).toBe(whole.slice(0, matches[0]?.at));
      },
    ),
    { numRuns: casesOf(2000) },
  );
});

test('reports which sequence matched', () => {
  expect(cut(['one EN', 'D two'], ['STOP', 'END'])).toEqual({ text: 'one ', matched: 'END' });
  expect(cut(['one EN', 'd'], ['END'])).toEqual({ text: 'one ENd', matched: undefined });
});
