// Contrast of the console's colours, computed from its stylesheet, light and dark: text at least 4.5 : 1, and edges of fields, dots,
// bars and series at least 3 : 1 (WCAG 2.2, 1.4.3 and 1.4.11).
import { expect, test } from 'bun:test';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';

const CSS = readFileSync(join(import.meta.dir, '..', '..', 'console', 'styles.css'), 'utf8');
const COLOURS = new Map(
  [...CSS.matchAll(/--color-([\w-]+): light-dark\((#\w{6}), (#\w{6})\)/g)].map(
    ([, name = '', light = '', dark = '']) => [name, { light, dark }],
  ),
);
const SCHEMES = ['light', 'dark'] as const;
type Scheme = (typeof SCHEMES)[number];

function luminance(hex: string): number {
  const [red = 0, green = 0, blue = 0] = [1, 3, 5].map((at) => {
    const part = Number.parseInt(hex.slice(at, at + 2), 16) / 255;
    return part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4;
  });
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
}

function contrast(one: string, other: string, scheme: Scheme): number {
  const [a, b] = [one, other].map((name) => luminance(COLOURS.get(name)?.[scheme] ?? ''));
  return (Math.max(a ?? 0, b ?? 0) + 0.05) / (Math.min(a ?? 0, b ?? 0) + 0.05);
}

const SURFACES = ['page', 'card', 'sunk'];
const TEXTS: readonly (readonly [string, readonly string[]])[] = [
  ...['ink', 'soft', 'faint', 'accent'].map((text) => [text, SURFACES] as const),
  ['ok', SURFACES],
  ['warn', [...SURFACES, 'warn-wash']],
  ['bad', [...SURFACES, 'bad-wash']],
  ['info', [...SURFACES, 'info-wash']],
  ['on-accent', ['accent']],
  ['card', ['bad']],
];
const SHAPES: readonly (readonly [string, readonly string[]])[] = [
  ['edge', ['page', 'card']],
  ...[1, 2, 3, 4, 5, 6].map((number) => [`series-${number}`, ['card', 'page']] as const),
  ['bad', ['card', 'sunk']],
  ['warn', ['card', 'sunk']],
  ['faint', ['card', 'sunk']],
  ['ok', ['card', 'page']],
];

function below(pairs: typeof TEXTS, least: number): readonly string[] {
  return SCHEMES.flatMap((scheme) =>
    pairs.flatMap(([front, backs]) =>
      backs
        .map((back) => ({ back, ratio: contrast(front, back, scheme) }))
        .filter(({ ratio }) => !(ratio >= least))
        .map(({ back, ratio }) => `${scheme}: ${front} on ${back} ${ratio.toFixed(2)}`),
    ),
  );
}

test('text has a contrast of at least 4.5', () => expect(below(TEXTS, 4.5)).toEqual([]));
test('text of signals has a contrast of at least 5.9 on its background', () =>
  expect(
    below(
      ['warn', 'bad', 'info'].map((name) => [name, [`${name}-wash`]] as const),
      5.9,
    ),
  ).toEqual([]));
test('edges of fields, dots, bars and series have a contrast of at least 3', () =>
  expect(below(SHAPES, 3)).toEqual([]));
