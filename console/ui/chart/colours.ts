// Colours of series. A name has the same one on all pages, unless another of the same chart has taken it.

const COLOURS = 6;
/** Name of the rest that the chart of few names has no colour for. */
export const OTHER = 'Other';

/** The colour that a name is given first, from its letters (FNV-1a). */
function preferred(id: string): number {
  let hash = 0x811c9dc5;
  for (const letter of id) hash = Math.imul(hash ^ (letter.codePointAt(0) ?? 0), 0x01000193);
  return (hash >>> 0) % COLOURS;
}

function variable(place: number): string {
  return `--color-series-${place + 1}`;
}

/** A variable of the stylesheet for each id, in their order. @param given variables that others of the chart have already */
export function coloursOf(ids: readonly string[], given: readonly string[] = []): readonly string[] {
  const taken = new Set<number>();
  for (let place = 0; place < COLOURS; place += 1) if (given.includes(variable(place))) taken.add(place);
  const places = new Map<string, number>();
  // By name: who is first in a chart today may be second tomorrow.
  for (const id of ids.filter((each) => each !== OTHER).toSorted()) {
    let place = preferred(id);
    for (let step = 0; step < COLOURS && taken.has(place); step += 1) place = (place + 1) % COLOURS;
    taken.add(place);
    places.set(id, place);
  }
  return ids.map((id) => {
    const place = places.get(id);
    return place === undefined ? '--color-faint' : variable(place);
  });
}
