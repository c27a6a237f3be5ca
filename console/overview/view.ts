// Query parameters of the overview: time range, and the dimension that splits the spend.
import { DIMENSIONS, type Dimension } from '../api/sums.ts';
import { readRange, type RangeSearch } from '../time/range.ts';

interface View extends RangeSearch {
  readonly by?: Dimension;
}

/** Parses query parameters. Default values are omitted. */
export function readView(search: Readonly<Record<string, unknown>>): View {
  const by = DIMENSIONS.find((each) => each === search['by']);
  return { ...readRange(search), ...(by && by !== 'model' && { by }) };
}
