// How much of what is tried by the thousand is tried. `npm test` takes under five minutes on two cores: of recordings that
// each go to every client, of attacks, and of random cases, it takes every eighth. With DRAGOMAN_TESTS=all, as in `.ci/run`, all.

/** True where nothing is left out. */
export const isWhole = process.env['DRAGOMAN_TESTS'] === 'all';

const EVERY = isWhole ? 1 : 8;

/** Every eighth, or all. @param shift how many are left out at first, so that several tables do not leave out the same */
export function shareOf<T>(all: readonly T[], shift = 0): T[] {
  return all.filter((_, index) => (index + EVERY - (shift % EVERY)) % EVERY === 0);
}

/** An eighth of a number of cases, or all; rounded up. */
export function casesOf(all: number): number {
  return Math.ceil(all / EVERY);
}
