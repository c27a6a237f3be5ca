// A routing factor of a few lines, as somebody would add it: endpoints whose models have shorter names go first.
import type { Factor } from '../../src/engine/routing/factors/factor.ts';

/** A word that only the copy of the sources knows to which it is added. */
const NAME = 'brevity' as string as Factor['name'];

export const brevity: Factor = {
  name: NAME,
  measured: false,
  value: ({ endpoint }) => 1 / endpoint.model.length,
  describe: ({ endpoint }) => `${endpoint.model.length} letters`,
};
