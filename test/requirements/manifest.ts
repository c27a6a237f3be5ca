// The requirements manifest: every behaviour that the gateway owes, once, with its source and the tests that show it.
// A requirement that is not here yet says which issue brings it. Its parts are the text files of this folder.
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseRequirements, type Requirement } from './requirement.ts';

/** Ids are `2.29` (section and item), `C-18` (contradiction), `contract.errors`, `pain.B18`. */
export const REQUIREMENTS: readonly Requirement[] = readdirSync(import.meta.dir)
  .filter((file) => file.endsWith('.txt'))
  .flatMap((file) => parseRequirements(readFileSync(join(import.meta.dir, file), 'utf8')));

/** How many items each section of the requirements has. */
export const SECTIONS: Readonly<Record<string, number>> = {
  '1': 9,
  '2': 38,
  '3': 26,
  '4': 12,
  '5': 11,
  '6': 19,
  '7': 6,
  '8': 7,
  '9': 21,
  '10': 17,
  '11': 5,
  '12': 26,
  '13': 29,
  '14': 10,
  '15': 8,
  '16': 12,
  '17': 3,
  '18': 10,
  '19': 16,
  '20': 45,
  '21': 12,
};

/** Contradictions in the seeds, and how each is resolved. */
export const CONTRADICTIONS: readonly number[] = range(1, 29);
/** Black-box checks. */
export const CHECKS: readonly number[] = range(1, 24);
/** Groups of the list of pains, with their first and last number. */
export const PAINS: Readonly<Record<string, readonly [number, number]>> = {
  A: [1, 17],
  B: [18, 26],
  C: [27, 33],
  D: [34, 43],
  G: [56, 57],
};

/** Whole numbers from the first to the last. */
export function range(first: number, last: number): readonly number[] {
  return Array.from({ length: last - first + 1 }, (_, index) => first + index);
}
