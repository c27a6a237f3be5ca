// The text of a diagnosis: aligned, no wider than the terminal, coloured only where that is wanted.
import { expect, test } from 'bun:test';
import type { Diagnosis } from '../../../../../src/operations/doctor/index.ts';
import { diagnosisText, type Change } from '../../../../../src/app/cli/commands/doctor-text.ts';

const DIAGNOSIS: Diagnosis = {
  provider: 'lab',
  protocol: 'openai-chat',
  model: 'm\u001b[2J',
  baseUrl: 'http://127.0.0.1:1/v1',
  probedAt: 0,
  probes: 1,
  facts: { quirks: {}, parameters: {} },
  findings: [
    { probe: 'answers', title: 'reachable', outcome: 'yes', detail: 'it answers' },
    {
      probe: 'stop',
      title: 'stops',
      outcome: 'no',
      value: 'late',
      detail: 'refused, with many words about how and why',
    },
    { probe: 'image_input', title: 'sees', outcome: 'unknown', detail: '' },
  ],
};
const CHANGES: readonly Change[] = [
  { name: 'prefill', known: 'none', measured: 'plain', isOverruled: false },
  { name: 'stop', known: 'supported', measured: 'unsupported', isOverruled: true },
];

test('results are in columns, with the changes below them', () => {
  expect(diagnosisText(DIAGNOSIS, CHANGES, { width: null, colour: false })).toBe(
    [
      String.raw`lab/m\u001b[2J over openai-chat at http://127.0.0.1:1/v1`,
      '  ✓ reachable  it answers',
      '  ✗ stops      late: refused, with many words about how and why',
      '  ? sees',
      '  → prefill: plain (before: none)',
      '  = stop stays supported, as configured (measured: unsupported)',
      '',
    ].join('\n'),
  );
});

test('a narrow terminal breaks the details in their column', () => {
  const lines = diagnosisText(DIAGNOSIS, [], { width: 44, colour: false }).split('\n');
  expect(lines.slice(2, 4)).toEqual([
    '  ✗ stops      late: refused, with many',
    '               words about how and why',
  ]);
});

test('colours mark the verdicts and nothing else', () => {
  const text = diagnosisText(DIAGNOSIS, [], { width: null, colour: true });
  expect(text).toContain('\u001b[32m✓\u001b[0m reachable');
  expect(text).toContain('\u001b[31m✗\u001b[0m stops');
  expect(text).toContain('\u001b[33m?\u001b[0m sees');
  expect(text.match(/\u001b/g)).toHaveLength(6);
});
