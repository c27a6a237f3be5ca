// Address of the overview: the range of time, and by what money is divided.
import { DIMENSIONS, type Dimension } from '../api/sums.ts';
import { readRange, type RangeSearch } from '../time/range.ts';

interface View extends RangeSearch {
  readonly by?: Dimension;
}

/** Reads an address; a member that has its usual value is left out. */
export function readView(search: Readonly<Record<string, unknown>>): View {
  const by = DIMENSIONS.find((each) => each === search['by']);
  return { ...readRange(search), ...(by && by !== 'model' && { by }) };
}
