// What the gateway holds up against upstreams that are broken or hostile, and what it tells caches and browsers.
import { shown, type Requirements } from './requirement.ts';

const HARDENING = 'an attack on the gateway from all sides';
const HEADERS = 'test/answer-headers.test.ts';
const HEADS = 'test/scenarios/hostile-heads.test.ts';

export const hostileUpstreamRequirements: Requirements = {
  'contract.answer-headers': shown(
    HARDENING,
    'No cache keeps an answer, no browser guesses its type, and relayed words are JSON or none.',
    `${HEADERS}: is neither kept nor guessed at`,
    `${HEADERS}: a refused key`,
    `${HEADS}: relayed words are JSON, also where their upstream calls them`,
    `${HEADS}: becomes an error in the protocol`,
  ),
};
