// Every fault that is promised to be handled, once: what the upstreams do, who must be asked and when, and what the
// client must get. `faults.test.ts` plays each row over every protocol; `docs/reliability.md` is written from it.
import { AFTER_CONTENT } from './faults-after-content.ts';
import { BEFORE_CONTENT } from './faults-before-content.ts';
import type { Fault } from './fault.ts';
import { REFUSALS } from './faults-refusals.ts';
import { WIRE_FAULTS } from './faults-wire.ts';

/** A chapter of the table. */
export interface FaultGroup {
  readonly title: string;
  readonly faults: readonly Fault[];
}

export const FAULTS: readonly FaultGroup[] = [
  { title: 'Before the first content', faults: BEFORE_CONTENT },
  { title: 'Refusals', faults: REFUSALS },
  { title: 'After the first content of a stream', faults: AFTER_CONTENT },
  { title: 'Odd but sound', faults: WIRE_FAULTS },
];
