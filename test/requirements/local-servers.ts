// Servers that operators run themselves: what is owed where nothing is known of them but their protocol.
import { type Requirements, shown } from './requirement.ts';

const SERVERS = 'test/socket/upstream/local-servers.test.ts';
const MEASURED = 'llama-server 0.10434.0, asked directly and through the gateway (2026-11-24)';

export const localServerRequirements: Requirements = {
  'contract.local-do-not-think': shown(
    MEASURED,
    'A wish not to reason reaches a server that no vendor runs also where nobody knows the model; a refusal of it is reported.',
    `${SERVERS}: is sent from a client of`,
    `${SERVERS}: is reported, and not said again`,
  ),
  'contract.litellm': shown(
    'LiteLLM 1.108.7, asked directly and through the gateway (2026-11-24)',
    'What LiteLLM’s proxy answers, and refuses, is the same through the gateway, over each of its protocols and to every client.',
    'test/socket/upstream/litellm.test.ts: ${question.title}, to a client of ${client} over ${protocol}',
    'test/socket/upstream/litellm.test.ts: a model that it does not have is not found over %s',
  ),
  'contract.continued-usage': shown(
    MEASURED,
    'The record of an answer that another endpoint completed counts what its client is told.',
    'test/scenarios/streams/continued-usage.test.ts: %s and the record agree',
  ),
  'contract.uncounted-reasoning': shown(
    MEASURED,
    'Chat Completions says `reasoning_tokens` where an upstream has counted them, 0 as well, and nowhere else.',
    'test/socket/engine/uncounted-reasoning.test.ts: %s says %p',
  ),
  'contract.local-count': shown(
    MEASURED,
    'A server of one’s own that counts tokens is asked to, in its own words and at its own path; the count is what the answer is charged for.',
    `${SERVERS}: are counted by %s at its own path`,
    `${SERVERS}: are estimated for %s, which does not count`,
    'test/socket/upstream/llama-server.test.ts: tokens of a request are counted as they are charged, over %s',
  ),
  'contract.local-too-long': shown(
    MEASURED,
    'A prompt that is too long goes to a larger endpoint at the first refusal, over every protocol, and is told in the words by which clients shorten it.',
    `${SERVERS}: goes to a larger endpoint at once over`,
    `${SERVERS}: goes also to an endpoint of which nothing is known`,
    `${SERVERS}: is told in the words by which clients shorten it`,
  ),
  'contract.local-cannot-serve': shown(
    MEASURED,
    'A request that a server can never serve goes to the next endpoint, is not retried and makes no endpoint unavailable, whatever its status.',
    `${SERVERS}: goes to the next endpoint, and makes none unavailable`,
    `${SERVERS}: is refused once, as the mistake of the request`,
  ),
  'contract.local-unknown-model': shown(
    MEASURED,
    'A model that a server refuses as unknown with 400 is not found.',
    `${SERVERS}: a model that the server does not have is not found`,
  ),
  'contract.local-models-listed': shown(
    MEASURED,
    'Models that servers of one’s own list are in the list of models, bounded in number, size and time; a slow server delays no list.',
    'test/socket/upstream/local-models.test.ts: models are listed and can be asked for, and a slow server delays nothing',
    'test/socket/upstream/local-models.test.ts: a list is bounded',
    'test/socket/upstream/local-models.test.ts: a list too large to read is none',
    'test/socket/upstream/local-models.test.ts: a list is asked for again after a while',
    'test/socket/upstream/local-models.test.ts: vendors are not asked',
  ),
  'contract.local-patience': shown(
    MEASURED,
    'Servers of one’s own machine have ten minutes for their first token; each provider can have limits of time of its own, and the client’s shorter one wins.',
    `${SERVERS}: has ten minutes where a preset says that it is one`,
    `${SERVERS}: has the time that its provider is given`,
    `${SERVERS}: has no more than its client wants to wait`,
  ),
  'contract.local-members': shown(
    MEASURED,
    'A schema beside `json_object` is enforced, `top_k` of every client reaches servers that take it, and a cut call has an empty input.',
    `${SERVERS}: the schema of`,
    `${SERVERS}: reaches a server that takes it`,
    `${SERVERS}: top_k and seed reach a server of which nothing is known`,
    `${SERVERS}: top_k that a server of which nothing is known refuses`,
    `${SERVERS}: a grammar of a client of Responses reaches`,
    `${SERVERS}: a call that its limit cut has an empty input in Messages`,
  ),
  'contract.local-output-limit': shown(
    MEASURED,
    'An output limit keeps the name that its client wrote where nothing is known of the server; one that is ignored is reported and teaches.',
    `${SERVERS}: keeps the name that a client of Chat Completions wrote`,
    `${SERVERS}: that is ignored is reported, and teaches the other name`,
    `${SERVERS}: is not raised for servers other than`,
  ),
  'contract.local-cut-answers': shown(
    MEASURED,
    'An answer that its limit cut is incomplete also where the server is known to call it complete, and nowhere else.',
    `${SERVERS}: is incomplete over the preset`,
    `${SERVERS}: is what the server calls it where nobody has seen`,
  ),
};
