// Every protocol in, every protocol out: what survives is measured, and is what docs/generated/protocols.json says and
// docs/protocols.md shows. UPDATE_MATRIX=1 writes the former.
import { beforeAll, expect, test } from 'bun:test';
import { readFileSync, writeFileSync } from 'node:fs';
import { MEASURED, type Measured } from '../../../docs/parts/protocols.ts';
import type { Answer } from './exchange.ts';
import { PROTOCOLS } from './feature.ts';
import { FEATURES } from './features.ts';
import { measure } from './measure.ts';
import { runMatrix, type Matrix } from './run.ts';
import { openStage } from './stage.ts';

const UPDATE = process.env['UPDATE_MATRIX'] === '1';
let matrix: Matrix;
let measured: Measured;

beforeAll(async () => {
  matrix = await runMatrix();
  measured = Object.fromEntries(
    Object.entries(matrix).map(([name, row]) => [
      name,
      Object.fromEntries(
        Object.entries(row).map(([way, { whole, stream }]) => [
          way,
          Bun.deepEquals(whole, stream) ? whole : { whole, stream },
        ]),
      ),
    ]),
  );
  if (UPDATE) writeFileSync(MEASURED, `${JSON.stringify(measured, null, 2)}\n`);
});

test('the kept outcomes are those of this run', () => {
  const kept = JSON.parse(readFileSync(MEASURED, 'utf8')) as Measured;
  expect(Object.keys(measured)).toEqual(Object.keys(kept));
  for (const [name, row] of Object.entries(measured)) expect([name, row]).toEqual([name, kept[name] ?? {}]);
});

test('every loss is reported', () => {
  const lost = Object.entries(matrix).flatMap(([name, row]) =>
    Object.entries(row).flatMap(([way, modes]) =>
      Object.entries(modes)
        .filter(([, { outcome }]) => outcome === 'lost')
        .map(([mode, { words }]) => `${name}, ${way}, ${mode}: ${words.join('; ')}`),
    ),
  );
  expect(lost).toEqual([]);
});

test('every pair of protocols has every row, and each row that is not lossless gives the reason', () => {
  for (const row of Object.values(matrix)) {
    expect(Object.keys(row)).toHaveLength(PROTOCOLS.length ** 2);
    for (const { whole, stream } of Object.values(row))
      for (const { outcome, words } of [whole, stream]) expect(words.length > 0).toBe(outcome !== 'lossless');
  }
});

test('a difference anywhere is seen', async () => {
  await using stage = await openStage();
  const [text] = FEATURES;
  if (!text) throw new Error('no row');
  for (const client of PROTOCOLS)
    for (const upstream of PROTOCOLS)
      for (const stream of [false, true]) {
        const reported = (answer: Answer) => ({ upstreams: [upstream], answers: [answer], unreported: /^$/ });
        const byGateway = reported({ ...text.answer, text: 'Something else.' });
        const cell = await measure(stage, { ...text, byGateway }, { client, upstream, stream });
        expect(cell.outcome).toBe('lost');
        const longer = { ...text, answer: { ...text.answer, usage: { output: 21 } } };
        const way = { client, upstream, stream };
        const counted = await measure(stage, { ...longer, byGateway: reported(text.answer) }, way);
        expect(counted.words).toEqual(['usage output: 21 is lost']);
      }
});
