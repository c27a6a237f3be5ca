// Values of upstreams reach the client as they are: vectors, usage, refusals, errors.
import { shown, type Requirements } from './requirement.ts';

const CONTRACT = 'contract with users';
const EMBEDDINGS = 'test/socket/protocols/embeddings.test.ts';

const ENDS = 'test/socket/protocols/hidden-ends.test.ts';

export const asGivenRequirements: Requirements = {
  'contract.vector-elements': shown(
    CONTRACT,
    'Vectors of bytes and bits are read as what they are; a wrong length or a number that is not finite is an upstream error.',
    `${EMBEDDINGS}: of a server that knows bytes alone`,
    `${EMBEDDINGS}: of type %s, given as %p`,
    `${EMBEDDINGS}: are asked for in the words of a server that has its own`,
    `${EMBEDDINGS}: are refused as base64 where %s has none`,
    `${EMBEDDINGS}: another length than the client asked for`,
    `${EMBEDDINGS}: Perplexity is asked at its own address`,
    'test/socket/protocols/cloud-operations.test.ts: hold the elements that were asked for',
  ),
  'contract.own-signatures': shown(
    CONTRACT,
    'A signature in its own protocol is no reason to translate, and counts of the own protocol pass as they came.',
    'test/socket/protocols/gemini/gemini-relay.test.ts: of a faithful server',
  ),
  'contract.open-responses': shown(
    CONTRACT,
    "Raw reasoning is streamed in OpenAI's words, or in those of Open Responses where the client or the operator says so.",
    'test/clients/sdk/open-responses.test.ts: is read by clients of Open Responses, with reasoning shown',
    "test/clients/sdk/open-responses.test.ts: is read by OpenAI's library, with the same words",
    'test/clients/sdk/open-responses.test.ts: an operator may choose the words for all clients',
    'test/clients/sdk/open-responses-checks.test.ts: passes %s',
    'test/clients/sdk/open-responses-checks.test.ts: response-output-phase-schema: phases of messages are kept, and fit',
  ),
  'contract.vendor-shapes': shown(
    CONTRACT,
    'Lists page as the vendor has it, a result that may answer several calls is refused, and an error names a member once.',
    "test/socket/protocols/vendor-shapes.test.ts: Google's library reads a list of models page by page",
    'test/socket/protocols/vendor-shapes.test.ts: is refused where several calls are open',
    'test/socket/protocols/vendor-shapes.test.ts: belongs to %s, which is reported',
    "test/socket/protocols/vendor-shapes.test.ts: Claude's refusal is no word of the model for Google's clients",
    'test/socket/protocols/vendor-shapes.test.ts: counts that contradict each other are clamped',
    'test/socket/protocols/vendor-shapes.test.ts: tokens are not counted for a model that the upstream does not know',
    "test/socket/protocols/vendor-shapes.test.ts: files are Anthropic's for its clients",
    'test/socket/protocols/vendor-shapes.test.ts: an error about an earlier audio answer names its member once',
  ),
  'contract.hidden-ends': shown(
    CONTRACT,
    'What signs an answer behind its last word is kept for the model, and does not stand behind the words.',
    `${ENDS}: ends with its words for clients of Messages`,
    `${ENDS}: ends with its message for clients of Responses`,
    `${ENDS}: keeps its signature in front of what follows`,
    `${ENDS}: other words do not get the signature`,
  ),
};
