// Damages streams as networks, proxies and broken servers do: events lost, repeated, out of order, cut, of other types,
// with absurd numbers; and flipped bits. The same seed gives the same damage. Knows no protocol.
import type { Frame } from './loose.ts';

/** Numbers from 0 up to a bound, the same for the same seed. */
export type Random = (below: number) => number;

/** @param seed whole number */
export function randomFrom(seed: number): Random {
  let state = (seed ^ 0x9e3779b9) >>> 0;
  return (below) => {
    // Mulberry32: small, and good enough to choose places.
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) % below;
  };
}

export interface Damage {
  readonly frames: readonly Frame[];
  /** Changes that were made, for the message of a failure. */
  readonly changes: readonly string[];
}

/** Values that nobody expects; a text stands for itself in JSON. */
const UNEXPECTED_VALUES = [
  'null', 'true', '0', '-1', '1.5', '1e308', '-1e999', '9007199254740993', '4294967296', '""', '"x"', '"\\ud800"', '"\\u0000"', '[]', '{}', '[null]', '[[]]', '{"type":1}', '{"a":{"b":[1]}}', `"${'y'.repeat(3000)}"`, `${'['.repeat(300)}${']'.repeat(300)}`,
] as const; // prettier-ignore

/** Changes one to three things in a stream. */
export function damage(original: readonly Frame[], random: Random): Damage {
  let frames = [...original];
  const changes: string[] = [];
  for (let left = 1 + random(3); left > 0 && frames.length > 0; left--) {
    const at = random(frames.length);
    const frame = frames[at] ?? { event: '', data: '' };
    switch (random(8)) {
      case 0:
        changes.push(`${at} dropped`);
        frames.splice(at, 1);
        break;
      case 1:
        changes.push(`${at} repeated`);
        frames.splice(at, 0, frame);
        break;
      case 2: {
        const to = random(frames.length);
        changes.push(`${at} moved to ${to}`);
        frames.splice(at, 1);
        frames.splice(to, 0, frame);
        break;
      }
      case 3: {
        const length = random(frame.data.length + 1);
        changes.push(`${at} cut to ${length}`);
        frames[at] = { ...frame, data: frame.data.slice(0, length) };
        break;
      }
      case 4:
        changes.push(`all from ${at} on lost`);
        frames = frames.slice(0, at);
        break;
      default:
        frames[at] = { ...frame, data: withUnexpectedValue(frame.data, random, changes, at) };
    }
  }
  return { frames, changes };
}

/** A frame's JSON with one value replaced, or one member lost. */
function withUnexpectedValue(data: string, random: Random, changes: string[], at: number): string {
  let json: unknown;
  try {
    json = JSON.parse(data);
  } catch {
    return data;
  }
  const places: { holder: Record<string, unknown>; key: string }[] = [];
  collect(json, places);
  const place = places[random(Math.max(places.length, 1))];
  if (!place) return data;
  const strange = UNEXPECTED_VALUES[random(UNEXPECTED_VALUES.length + 3)];
  changes.push(`${at} .${place.key} ${strange?.slice(0, 30) ?? 'lost'}`);
  if (strange === undefined) {
    delete place.holder[place.key];
    return JSON.stringify(json);
  }
  place.holder[place.key] = '@@strange@@';
  return JSON.stringify(json).replace('"@@strange@@"', () => strange);
}

function collect(value: unknown, places: { holder: Record<string, unknown>; key: string }[]): void {
  if (typeof value !== 'object' || value === null) return;
  const holder = value as Record<string, unknown>;
  for (const key of Object.keys(holder)) {
    places.push({ holder, key });
    collect(holder[key], places);
  }
}

/** Flips up to three bits, in every fourth stream. */
export function flipBits(bytes: Buffer, random: Random, changes: string[]): Buffer {
  if (bytes.length === 0 || random(4) > 0) return bytes;
  const flipped = Buffer.from(bytes);
  for (let left = 1 + random(3); left > 0; left--) {
    const at = random(flipped.length);
    changes.push(`bit of byte ${at}`);
    flipped[at] = (flipped[at] ?? 0) ^ (1 << random(8));
  }
  return flipped;
}
