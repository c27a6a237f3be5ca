// Colours of series. A name has the same colour on all pages, unless another series of the chart already uses it.

const COLOURS = 6;
/** Name of the series for all groups without a colour of their own. */
export const OTHER = 'Other';

/** First choice of colour: FNV-1a hash of the id. */
function preferred(id: string): number {
  let hash = 0x811c9dc5;
  for (const letter of id) hash = Math.imul(hash ^ (letter.codePointAt(0) ?? 0), 0x01000193);
  return (hash >>> 0) % COLOURS;
}

function variable(place: number): string {
  return `--color-series-${place + 1}`;
}

/** A CSS variable for each id, in the same order. @param given variables already used in the chart */
export function coloursOf(ids: readonly string[], given: readonly string[] = []): readonly string[] {
  const taken = new Set<number>();
  for (let place = 0; place < COLOURS; place += 1) if (given.includes(variable(place))) taken.add(place);
  const places = new Map<string, number>();
  // Sorted by id, because the order of the series changes over time.
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
