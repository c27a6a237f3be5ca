// What clients of Gemini are owed beside the answers that every protocol has.
import { golden, shown, type Requirements } from './requirement.ts';

const API = 'Gemini API, 2026-11';
const RECORDED = 'test/recordings/unknown-models.test.ts';
const LOST = 'test/recordings/gemini-signatures.test.ts';
const EMBEDDINGS = 'test/gemini-embeddings.test.ts';

export const geminiRequirements: Requirements = {
  'contract.unknown-models-recorded': shown(
    'recorded requests of programs',
    'Requests for models that no catalog knows lose nothing without a report where the upstream owns the protocol.',
    `${RECORDED}: lose nothing without a report`,
    'test/unknown-models.test.ts: members of reasoning that nobody knows yet pass',
    "test/unknown-models.test.ts: OpenAI's own breakpoints pass",
  ),
  'contract.gemini-lost-signatures': shown(
    API,
    'Signatures that a client lost come back to its calls, also without ids; those that it has stay.',
    `${LOST}: come back after a turn in the lane %s`,
    'test/gemini-signatures.test.ts: comes back to calls without ids, in both lanes',
    'test/gemini-signatures.test.ts: a signature that the client has is not replaced',
  ),
  'contract.gemini-ends': shown(
    API,
    'A stream that ends with a call ends there, with no empty text behind it.',
    golden('gemini/encode-stream/everything'),
    golden('gemini/encode-stream/array-without-thoughts'),
  ),
  'contract.gemini-embeddings': shown(
    API,
    'Clients of Gemini get embeddings of every upstream that makes them; what it cannot be told is reported.',
    `${EMBEDDINGS}: reads the vectors of an OpenAI-compatible upstream`,
    `${EMBEDDINGS}: has everything said to Google itself`,
    `${EMBEDDINGS}: gets errors in the shape that it knows`,
    `${EMBEDDINGS}: one content gets one vector, in either spelling`,
    `${EMBEDDINGS}: inputs that are asked for differently travel apart`,
    `${EMBEDDINGS}: what others cannot be told is reported once`,
    `${EMBEDDINGS}: %s to %s on Bedrock`,
    `${EMBEDDINGS}: on Vertex, in both of its forms`,
    `${EMBEDDINGS}: a wrong request is a 400 that names the member`,
  ),
};
