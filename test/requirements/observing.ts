// Observation by operators: metrics, alerts, traces.
import { type Requirements, shown } from './requirement.ts';

const SEEN = 'operations: telemetry';
const ALERTS = 'test/socket/operations/alerts.test.ts';
const TRACES = 'test/socket/operations/traces.test.ts';
const METRICS = 'test/socket/operations/metrics.test.ts';
const WIRE_DIFF = 'test/socket/operations/management/wire-diff.test.ts';
const WHAT_IF = 'test/socket/operations/management/what-if.test.ts';
const REPLAY = 'test/socket/operations/management/replay.test.ts';
const EVENTS = 'test/socket/operations/management/events.test.ts';
const PAYLOADS = 'test/socket/operations/management/payloads.test.ts';

export const observingRequirements: Requirements = {
  'contract.alerts': shown(
    'operations: alerts',
    'Budgets at 50, 80 and 100 %, open breakers, refused provider keys and a failing ledger are told to a webhook, once each.',
    `${ALERTS}: a budget is told of at a half, four fifths and all of it, each once`,
    `${ALERTS}: the next period of a budget is told of again`,
    `${ALERTS}: an endpoint that keeps failing and a refused key are told of, and again after an hour`,
    `${ALERTS}: records that cannot be written, and a database that takes none, are told of without asking the database`,
    `${ALERTS}: a start with the same data tells nothing twice`,
    `${ALERTS}: an alert that is over is resolved, and stays in the list after a start`,
  ),
  'contract.alerts.delivery': shown(
    'operations: alerts',
    'Webhooks are signed as Standard Webhooks says, and tried again with growing pauses.',
    `${ALERTS}: a receiver that fails gets the same message again, later and later, and one that is gone does not`,
    `${ALERTS}: a receiver gets what it asked for, and every alert is in the log`,
  ),
  'contract.traces': shown(
    SEEN,
    'A span for each request, try and call of a tool goes to a collector over OTLP; a trace is taken from the client and passed on.',
    `${TRACES}: a request and each of its tries are spans, and the upstream is told its own`,
    `${TRACES}: a client that has a trace finds its request there, with its state, and so does the upstream`,
    `${TRACES}: work that a request leaves behind has traces of its own, each linked to the span of the client`,
    `${TRACES}: a call of a tool that the gateway ran is a span of its own`,
    `${TRACES}: a client that keeps no spans has none kept, and its trace goes on`,
    `${TRACES}: neither prompts nor answers nor texts of errors are in spans`,
  ),
  'contract.traces.bounded': shown(
    SEEN,
    'A slow collector slows no request, and costs bounded memory.',
    `${TRACES}: a collector that does not answer costs bounded memory, and is told of in the log once a minute`,
    `${TRACES}: spans are queued minutes for a collector that is away, and all of them arrive when it is back`,
    `${TRACES}: a message that nobody can take is given up after ten minutes, and the next one goes`,
    `${TRACES}: without a collector no upstream hears of traces`,
  ),
  'contract.log.outages': shown(
    SEEN,
    'A database that is away fills no log: one line when that begins, one a minute, one at the end.',
    'test/unit/base/outage-log.test.ts: a database that is away is told of when that begins, once a minute and at the end',
  ),
  'contract.payloads': shown(
    SEEN,
    'With content logging, what each side of a request sent is kept: bounded, without credentials, for admins alone.',
    `${PAYLOADS}: the four payloads of a streamed answer are kept as they were sent, with the time of each read`,
    `${PAYLOADS}: neither keys nor credentials of tools are in them`,
    `${PAYLOADS}: they are for admins alone`,
    `${PAYLOADS}: of failures alone, every try is kept; of what went well, nothing`,
    `${PAYLOADS}: a long body is cut, and said to be`,
    `${PAYLOADS}: without content logging nothing is kept`,
    `${PAYLOADS}: a stored key keeps what the configuration says, unless it says otherwise`,
    'test/unit/operations/payloads.test.ts: what there is no room for is given up, and counted',
    'test/unit/operations/payloads.test.ts: of so many requests one is kept',
    'test/contract/storage/payloads.test.ts: the oldest make room for the newest',
    'test/contract/storage/payloads.test.ts: what is too old is forgotten',
  ),
  'contract.wire-diff': shown(
    'operations: console',
    'The requests of client and upstream, and their answers, are compared by meaning, for every pair of protocols.',
    `${WIRE_DIFF}: the same stands beside the same`,
    `${WIRE_DIFF}: what is dropped, approximated or for the gateway is marked, with the reason`,
    `${WIRE_DIFF}: an effort stands beside the budget that it became, and a streamed answer is put together`,
    `${WIRE_DIFF}: calls and their results are found, whatever a protocol calls them`,
    `${WIRE_DIFF}: where nothing was kept there is no difference to show`,
  ),
  'contract.what-if': shown(
    'operations: console',
    'Past requests are decided about again under another policy, price, provider or model; nothing is sent.',
    `${WHAT_IF}: without a change says what was`,
    `${WHAT_IF}: of another policy moves requests, with what they would cost there`,
    `${WHAT_IF}: of a round shares requests out`,
    `${WHAT_IF}: of other prices and missing providers`,
    `${WHAT_IF}: of another model`,
    `${WHAT_IF}: looks at some of many, and says so`,
    `${WHAT_IF}: sends nothing, and is in no record`,
    `${WHAT_IF}: of what cannot be is refused`,
  ),
  'contract.replay': shown(
    'operations: console',
    'A request whose content was kept can be sent again, byte for byte, for the same key and with limits; what is different is told.',
    `${REPLAY}: has the same bytes and the same answer`,
    `${REPLAY}: can be asked of another model, of whose address as well, and of one provider`,
    `${REPLAY}: counts for the key that it belongs to`,
    `${REPLAY}: is refused where it is not known as it was, or would act a second time`,
    `${REPLAY}: is told in a table by the command`,
  ),
  'contract.events': shown(
    SEEN,
    'What happens is told to admins as it happens, until their key is no longer good.',
    `${EVENTS}: a request that is over is told as the list has it`,
    `${EVENTS}: an endpoint that is disabled and enabled again is announced`,
    `${EVENTS}: a budget that passes a threshold is told of as an alert`,
    `${EVENTS}: what has changed is told once a second at most, however much happens`,
    `${EVENTS}: a reader who is slow loses the oldest, and is told how many`,
    `${EVENTS}: a silent stream is kept alive, and ends within two seconds when its key is revoked`,
    `${EVENTS}: a stream ends within two seconds when its key is an admin no more`,
    `${EVENTS}: who signed in with a token of this machine reads on when that is no longer good`,
    `${EVENTS}: a gateway that stops ends the streams of its events`,
    `${EVENTS}: models cannot be asked for what happens, nor can anything else be listened to`,
  ),
  'contract.events-of-all': shown(
    SEEN,
    'With several processes, whoever watches at one hears of all; while nobody watches, nothing is told.',
    'test/socket/cluster/valkey-gateways.test.ts: tell whoever watches at one of them what happens at all',
    'test/socket/cluster/worker-program.test.ts: whoever watches at one of them hears what happens at all',
    'test/socket/operations/management/replica-events.test.ts: whoever watches at one gateway hears of all',
    'test/unit/cluster/events.test.ts: nobody is told of anything while nobody watches',
    'test/unit/cluster/events.test.ts: of more than its share a process tells the latest, and how many it has left out',
    'test/unit/cluster/events.test.ts: words that are no events harm nobody',
  ),
  'contract.access-log': shown(
    SEEN,
    'If asked for, each request is a line of JSON, without prompt and answer.',
    'test/socket/server/access-log.test.ts: a line for each request, whatever the level of the log, and only if asked for',
  ),
  'contract.metrics': shown(
    SEEN,
    'Requests, errors, times, tokens, cost, attempts, breakers and the process are told to Prometheus.',
    `${METRICS}: every metric is told under its name, with its type, its labels and no others`,
    `${METRICS}: requests are counted by operation, provider, model and status, with tokens, cost and times`,
    `${METRICS}: failures, retries and failovers are counted where they happened`,
    `${METRICS}: an open breaker is seen`,
    `${METRICS}: limits are told by how much of them is used, and what they refused is counted`,
    `${METRICS}: a stream is running until it ends`,
  ),
  'contract.metrics.dashboard': shown(
    SEEN,
    'A Grafana dashboard and alert rules ask only for what there is.',
    'test/socket/operations/dashboards.test.ts: %s asks for what there is',
    'test/socket/operations/dashboards.test.ts: takes the rules, and finds that they say what they should',
    'test/socket/operations/dashboards.test.ts: has nothing to say against the metrics',
  ),
  'contract.metrics.access': shown(
    SEEN,
    'Metrics are for administrators, or for whoever reaches an address of their own.',
    `${METRICS}: at the gateway itself metrics are for administrators`,
  ),
  'contract.metrics.bounded': shown(
    SEEN,
    'Nothing that clients make up becomes a label.',
    `${METRICS}: model names that clients make up are one series`,
    `${METRICS}: keys beyond the first thousand are one series`,
  ),
};
