// What nobody may take from others: memory, time, what an operator's account holds, and what only an operator's network
// reaches.
import { shown, type Requirements } from './requirement.ts';

const BOUNDS = 'bounds on what one party can take from others';
const T_BOUNDS = 'test/scenarios/tool-bounds.test.ts';
const ANSWERED = 'test/answered-calls.test.ts';
const HEADERS = 'test/passed-headers.test.ts';

export const boundsRequirements: Requirements = {
  'contract.bounds.allowed-calls': shown(
    BOUNDS,
    'Calls that a person allowed count and weigh as all others of an answer; those over the limit stay allowed.',
    `${T_BOUNDS}: are no more than other calls of one answer`,
    `${T_BOUNDS}: obey the limit of the request`,
    `${T_BOUNDS}: give the model no more than other calls do`,
  ),
  'contract.bounds.allowed-results': shown(
    BOUNDS,
    'What came of them is remembered within bytes and for a time; that they were made, for longer.',
    `${ANSWERED}: is made once, and its outcome can be had again for a while`,
    `${ANSWERED}: outcomes of one key push out its own`,
    `${ANSWERED}: hundreds of large outcomes leave no more than their share in memory`,
  ),
  'contract.bounds.headers': shown(
    BOUNDS,
    "Only listed headers of a client reach an upstream, and none in place of the gateway's own.",
    `${HEADERS}: of a client of %s`,
  ),
};
