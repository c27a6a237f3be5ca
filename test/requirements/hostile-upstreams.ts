// Protection from upstreams that are broken or hostile, and headers for caches and browsers.
import { shown, type Requirements } from './requirement.ts';

const HARDENING = 'an attack on the gateway from all sides';
const HEADERS = 'test/socket/server/answer-headers.test.ts';
const REUSE = 'test/scenarios/streams/connection-reuse.test.ts';
const COMPRESSED = 'test/scenarios/streams/compressed-answers.test.ts';
const PARSER = 'test/unit/upstream/response-parser.test.ts';
const HEADS = 'test/scenarios/streams/hostile-heads.test.ts';

export const hostileUpstreamRequirements: Requirements = {
  'contract.answer-headers': shown(
    HARDENING,
    'No cache keeps an answer, no browser guesses its type, and relayed words are JSON or none.',
    `${HEADERS}: is neither kept nor guessed at`,
    `${HEADERS}: a refused key`,
    `${HEADS}: relayed words are JSON, also where their upstream calls them`,
    `${HEADS}: becomes an error in the protocol`,
  ),
  'contract.stray-answers': shown(
    HARDENING,
    'An answer that nobody asked for reaches nobody, and ends the reuse of the pool it came over for a minute.',
    `${REUSE}: over an idle connection closes all of the pool`,
    `${REUSE}: behind an answer`,
    `${REUSE}: an answer to a request that is still on its way is somebody else’s`,
    `${REUSE}: a farewell over an idle connection is no answer`,
    `${PARSER}: bytes behind %s are stray`,
  ),
  'contract.upstream-reuse': shown(
    HARDENING,
    'Connections are shared per provider and credential, per key of the gateway, or never, and do not live for ever.',
    `${REUSE}: another credential at the same address has connections of its own`,
    `${REUSE}: key: what one key used, no other uses`,
    `${REUSE}: never: each request has a connection of its own`,
    `${REUSE}: a connection has a greatest age and a greatest number of requests`,
  ),
  'contract.inflation': shown(
    HARDENING,
    'Compressed answers are inflated no faster than they are taken, to 200 times their size, with small windows.',
    `${COMPRESSED}: a client that does not read holds inflation and the upstream up`,
    `${COMPRESSED}: a stream that inflates without measure ends in an error`,
    `${COMPRESSED}: so does a whole answer`,
    `${COMPRESSED}: a frame that wants a window of 128 MB is refused`,
  ),
  'contract.upstream-http': shown(
    HARDENING,
    'What two readers could read in two ways is refused: heads, lengths, codings, chunks, interim answers without end.',
    `${PARSER}: is refused, also byte by byte`,
    `${HEADS}: an error whose body never ends is told by its beginning`,
  ),
};
