// Requirements of clients of Gemini beside the answers that every protocol has.
import { golden, shown, type Requirements } from './requirement.ts';

const API = 'Gemini API, 2026-11';
const RECORDED = 'test/recordings/unknown-models.test.ts';
const LOST = 'test/recordings/gemini-signatures.test.ts';
const KEPT = 'test/socket/state/interactions-kept.test.ts';
const INTERACTIONS = 'test/clients/sdk/interactions-sdk.test.ts';
const FILES = 'test/socket/state/gemini-files.test.ts';
const EMBEDDINGS = 'test/socket/protocols/gemini/gemini-embeddings.test.ts';

export const geminiRequirements: Requirements = {
  'contract.unknown-models-recorded': shown(
    'recorded requests of programs',
    'Requests for models that no catalog knows lose nothing without a report where the upstream owns the protocol.',
    `${RECORDED}: lose nothing without a report`,
    'test/socket/engine/unknown-models.test.ts: members of reasoning that nobody knows yet pass',
    "test/socket/engine/unknown-models.test.ts: OpenAI's own breakpoints pass",
  ),
  'contract.gemini-lost-signatures': shown(
    API,
    'Signatures that a client lost come back to its calls, also without ids; those that it has stay.',
    `${LOST}: come back after a turn in the lane %s`,
    'test/socket/protocols/gemini/gemini-signatures.test.ts: comes back to calls without ids, in both lanes',
    'test/socket/protocols/gemini/gemini-signatures.test.ts: a signature that the client has is not replaced',
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
  'contract.gemini-files': shown(
    API,
    "Google's clients upload files in pieces, name them in requests and batches, list, download and delete them.",
    `${FILES}: are uploaded, found, listed, named in a request and deleted with the official SDK`,
    `${FILES}: are uploaded from a path in pieces of 8 MB, and are whole`,
    `${FILES}: are listed in pages`,
    `${FILES}: hold the lines of a batch, whose results are downloaded`,
    'test/contract/storage/uploads.test.ts: an upload grows by pieces where it stands, counts for its project, and becomes a file once',
    'test/clients/sdk/python.test.ts: %s',
  ),
  'contract.gemini-files-tenants': shown(
    API,
    'Files and uploads of another project are as those that do not exist, and a page that somebody uploaded is run by no browser.',
    `${FILES}: of another key are not there`,
    `${FILES}: do not begin without a key, and nobody goes on with an upload that is none`,
    `${FILES}: are downloaded as attachments: no browser runs a page that somebody uploaded`,
  ),
  'contract.gemini-files-hostile': shown(
    API,
    'Pieces in a wrong place or of a wrong length change nothing; too much ends an upload; nothing is left of uploads that nobody ends.',
    `${FILES}: do not begin with %s`,
    `${FILES}: that say they are too large are refused before their bytes, others where they are`,
    `${FILES}: go on after pieces that do not fit, and end once`,
    `${FILES}: go on where a connection broke`,
    `${FILES}: count for their project while they come: an upload without room ends`,
    `${FILES}: uploads that nobody ends are gone after a day, with their bytes; files after two`,
    'test/contract/storage/uploads.test.ts: an upload that is cancelled or expires gives its place back, and the names of its pieces',
  ),
  'contract.interactions': shown(
    API,
    "Google's Interactions API passes to Google and back, with nothing changed but names.",
    `${INTERACTIONS}: a whole answer passes under the gateway's names, and is counted`,
    `${INTERACTIONS}: a stream passes, event by event`,
    `${INTERACTIONS}: at every byte are the same`,
    `${INTERACTIONS}: that break off end with an error`,
    `${INTERACTIONS}: that fail before content are answered with Google's error`,
    `${INTERACTIONS}: an agent is asked by its name, and what it will cost is unknown`,
  ),
  'contract.interactions-kept': shown(
    API,
    'Interactions that Google keeps are read, continued, deleted and stopped by the key that made them, and by no other.',
    `${INTERACTIONS}: is read again, with its input`,
    `${INTERACTIONS}: is read on as a stream from one of its events`,
    `${INTERACTIONS}: is deleted, or not, as Google says`,
    `${INTERACTIONS}: is stopped`,
    `${INTERACTIONS}: goes on, at the provider that keeps it`,
    `${INTERACTIONS}: is nothing to another key, and Google's own ids are nothing to anybody`,
    `${INTERACTIONS}: of a client that leaves are left`,
    `${INTERACTIONS}: a stream has begun as soon as it has an id`,
    `${KEPT}: what goes on from an interaction is asked of nobody else`,
    `${KEPT}: what goes on in the background is counted once`,
    `${KEPT}: and so it is by the last event of its stream`,
    `${KEPT}: a reader that is slower than Google holds Google up`,
    `${KEPT}: a stream that breaks off ends with an error`,
  ),
};
