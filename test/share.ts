// How much of what is tried by the thousand is tried. `npm test` takes under five minutes on two cores: of recordings that
// each go to every client, and of random cases, it takes every third. With DRAGOMAN_TESTS=all, as in `.ci/run`, all.

/** True where nothing is left out. */
export const isWhole = process.env['DRAGOMAN_TESTS'] === 'all';

const EVERY = isWhole ? 1 : 3;

/** Every third, or all. */
export function shareOf<T>(all: readonly T[]): T[] {
  return all.filter((_, index) => index % EVERY === 0);
}

/** A third of a number of cases, or all; rounded up. */
export function casesOf(all: number): number {
  return Math.ceil(all / EVERY);
}
