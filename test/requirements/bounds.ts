// Bounds that protect one client from others: memory, time, what an operator's account holds, and what only an operator's network
// reaches.
import { BODY, shown, type Requirements } from './requirement.ts';

const BOUNDS = 'bounds on what one party can take from others';
const T_BOUNDS = 'test/scenarios/tools/tool-bounds.test.ts';
const ANSWERED = 'test/unit/engine/answered-calls.test.ts';
const SCAN = 'test/unit/base/json/scan.test.ts';
const TWICE = 'test/scenarios/duplicate-names.test.ts';
const ADDRESSES = 'test/socket/upstream/foreign-addresses.test.ts';
const OBJECTS = 'test/socket/engine/named-objects.test.ts';
const SCHEMAS = 'test/socket/engine/large-schemas.test.ts';
const HEADERS = 'test/socket/server/passed-headers.test.ts';

export const boundsRequirements: Requirements = {
  'contract.bounds.allowed-calls': shown(
    BOUNDS,
    'Calls that a person allowed count and weigh as all others of an answer; those over the limit stay allowed.',
    `${T_BOUNDS}: are no more than other calls of one answer`,
    `${T_BOUNDS}: obey the limit of the request`,
    `${T_BOUNDS}: give the model no more than other calls do`,
    `${T_BOUNDS}: a result of countless blocks, or of endless descriptions`,
  ),
  'contract.bounds.allowed-results': shown(
    BOUNDS,
    'What came of them is remembered within bytes and for a time; that they were made, for longer.',
    `${ANSWERED}: is made once, and its outcome can be had again for a while`,
    `${ANSWERED}: outcomes of one key push out its own`,
    `${ANSWERED}: hundreds of large outcomes leave no more than their share in memory`,
  ),
  'contract.bounds.addresses': shown(
    BOUNDS,
    'A server that no vendor runs is left with no address of a request: it gets the bytes, or the request is refused.',
    `${ADDRESSES}: is not left to a server of the operator where it is private`,
    `${ADDRESSES}: is fetched for it where it may be`,
    `${ADDRESSES}: an address of another scheme is not left to it either`,
    `${ADDRESSES}: an address in a part of a type that only the server knows`,
    `${ADDRESSES}: is one that may be called from here as well`,
    `${ADDRESSES}: a token count does not show an address to it`,
  ),
  'contract.bounds.objects': shown(
    BOUNDS,
    "Objects of the operator's accounts at vendors are a 404, unless the operator shares them.",
    `${OBJECTS}: is not found, by its name, and nothing is sent`,
    `${OBJECTS}: shows no id to the vendor`,
    `${OBJECTS}: passes to the vendor: %s`,
    `${OBJECTS}: a token count shows none of it to the vendor`,
  ),
  'contract.bounds.schemas': shown(
    BOUNDS,
    'Schemas that take long to compile or to check by stop nobody, and have limits of time and memory.',
    `${SCHEMAS}: a schema of thousands of objects stops nobody`,
    `${SCHEMAS}: neither does a long answer that is checked by many of its parts`,
    `${SCHEMAS}: a large schema that cannot be used is refused by its name`,
  ),
  'contract.bounds.headers': shown(
    BOUNDS,
    "Only listed headers of a client reach an upstream, and none in place of the gateway's own.",
    `${HEADERS}: of a client of %s`,
  ),
  'contract.bounds.json': shown(
    BOUNDS,
    'Depth, values and names that stand twice in a body are counted in one pass before it is parsed.',
    `${BODY}: eight bodies of 30 MB of brackets at once`,
    `${BODY}: a name that stands twice`,
    `${SCAN}: nesting beyond the limit, and values`,
    'test/unit/base/fuzz-json.test.ts: a body is accepted when the parser accepts it',
  ),
  'contract.bounds.names': shown(
    BOUNDS,
    'A key that may use one model reaches no other by naming two, however the name is written.',
    `${TWICE}: a key reaches no other model by naming two`,
    `${TWICE}: nor in a message of a WebSocket`,
  ),
  'contract.bounds.templates': shown(
    BOUNDS,
    'A template costs what it holds, and grows no larger than a body when its variables are filled in.',
    'test/unit/engine/state/prompt-template.test.ts: finds each of 60,000 variables at once',
    'test/unit/engine/state/prompt-template.test.ts: refuses a template that a value would make huge',
  ),
  'contract.bounds.depth': shown(
    BOUNDS,
    'What an upstream or an MCP server nests too deeply is a failure of theirs, found before anybody reads it.',
    'test/scenarios/streams/deep-answers.test.ts: a whole answer: %s',
    'test/scenarios/streams/deep-answers.test.ts: an event of a stream: %s',
    'test/unit/engine/mcp-session.test.ts: a list that nests without end is stopped while it arrives',
  ),
  'contract.bounds.time': shown(
    BOUNDS,
    'Codecs and scanners take as long as their input is long, whatever grows in it and in whatever pieces it comes.',
    'test/unit/linear/linear-time.test.ts: requests, to every upstream',
    'test/unit/linear/linear-time.test.ts: whole answers, to every client',
    'test/unit/linear/linear-time.test.ts: streams, to every client',
    'test/unit/linear/linear-scanners.test.ts: takes as long as the text is long',
    'test/unit/linear/linear-scanners.test.ts: takes as long as the bytes are many, in pieces of %d',
    'test/unit/linear/linear-pairs.test.ts: citations of a long text, words %s',
    'test/unit/linear/linear-pairs.test.ts: outputs of shell calls, %s',
    'test/unit/linear/linear-pairs.test.ts: calls that are all numbered alike',
    'test/unit/linear/linear-pairs.test.ts: the head of a part, a byte at a time',
  ),
};
