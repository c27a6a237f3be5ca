// Every metric that the gateway tells: its name, what it counts, its labels. `docs/metrics.md` is generated from here, and
// dashboards and alert rules are checked against it. Counts nothing itself.

/**
 * Labels by the short names that the program has for them. Where OpenTelemetry's conventions for generative AI have an
 * attribute, the label is that, with underscores for dots (open-telemetry/semantic-conventions-genai, 2026-11).
 */
export const LABELS = {
  api: {
    name: 'api',
    meaning: 'What was asked for, as records name it: `chat.completions`, `responses`, `messages`, …',
  },
  operation: {
    name: 'gen_ai_operation_name',
    meaning:
      'The same in the words of the conventions: `chat`, `generate_content`, or the name of a task besides text.',
  },
  provider: {
    name: 'gen_ai_provider_name',
    meaning: 'Name of the configured provider that answered, or was tried last; `none`: nobody was asked.',
  },
  model: {
    name: 'gen_ai_request_model',
    meaning: 'Id of a listed model, the one that ran if one did; `other`: every model that is not listed.',
  },
  token: {
    name: 'gen_ai_token_type',
    meaning:
      'Class of tokens: `input`, `input_cache_read`, `input_cache_write`, `input_audio`, `input_image`, `output`, `output_reasoning`, `output_audio`. They add up: no token is in two of them.',
  },
  error: { name: 'error_type', meaning: 'Kind of an error, as in [errors](errors.md).' },
  status: { name: 'http_response_status_code', meaning: 'Status that the client got; 499: it had left.' },
  outcome: {
    name: 'outcome',
    meaning:
      'Of a try: `completed`, `failed` or `cancelled`. Of spans: `exported` or `dropped`. Of payloads: `kept` or `dropped`.',
  },
  endpoint: { name: 'endpoint', meaning: 'Name of an endpoint, as routes and records show it.' },
  state: { name: 'state', meaning: '`closed`: sound; `open`: left alone; `half-open`: being tried again.' },
  project: { name: 'project', meaning: 'Name of the project; of a key without one, its id.' },
  key: { name: 'key', meaning: 'Name of the key; `other` beyond the first thousand.' },
  ownerType: { name: 'owner_type', meaning: '`gateway`, `project` or `provider`.' },
  owner: { name: 'owner', meaning: 'Name of the project or provider; empty for the gateway.' },
  limit: { name: 'limit', meaning: 'The limit as it is written: `600 requests per minute`.' },
  reason: { name: 'reason', meaning: 'Why.' },
  kind: { name: 'kind', meaning: 'Kind of a job: `response`, an answer in the background.' },
  jobState: {
    name: 'job_state',
    meaning: '`queued`, `waiting` for limits to have room, `running`, `completed`, `failed` or `cancelled`.',
  },
} as const satisfies Record<string, { readonly name: string; readonly meaning: string }>;

export type Label = keyof typeof LABELS;

export interface MetricDefinition {
  readonly name: string;
  readonly type: 'counter' | 'gauge' | 'histogram';
  /** One sentence; it says the unit where the name does not. */
  readonly help: string;
  readonly labels: readonly Label[];
  /** Upper bounds of a histogram's buckets, ascending; the one without a bound is not among them. */
  readonly buckets?: readonly number[];
}

// The conventions' own advice for these metrics (semantic-conventions-genai, gen-ai-metrics.md and client-inference.md, 2026-11).
const DURATIONS = [
  0.01, 0.02, 0.04, 0.08, 0.16, 0.32, 0.64, 1.28, 2.56, 5.12, 10.24, 20.48, 40.96, 81.92,
] as const;
const FIRST_TOKENS = [
  0.001, 0.005, 0.01, 0.02, 0.04, 0.06, 0.08, 0.1, 0.25, 0.5, 0.75, 1, 2.5, 5, 7.5, 10,
] as const;
const PER_TOKEN = [0.01, 0.025, 0.05, 0.075, 0.1, 0.15, 0.2, 0.3, 0.4, 0.5, 0.75, 1, 2.5] as const;
const DELAYS = [0.001, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5] as const;

const SERVED: readonly Label[] = ['api', 'operation', 'provider', 'model'];

/** All of them, by the names that the program has for them. */
export const METRICS = {
  requests: {
    name: 'dragoman_requests_total',
    type: 'counter',
    help: 'Requests that models were to answer, by the status that the client got.',
    labels: ['api', 'provider', 'model', 'status'],
  },
  errors: {
    name: 'dragoman_request_errors_total',
    type: 'counter',
    help: 'Requests that failed, by the kind of error, also where the stream had begun with status 200.',
    labels: ['api', 'provider', 'model', 'error'],
  },
  duration: {
    name: 'gen_ai_server_request_duration_seconds',
    type: 'histogram',
    help: 'Time from the arrival of a request to the end of its answer.',
    labels: SERVED,
    buckets: DURATIONS,
  },
  firstToken: {
    name: 'gen_ai_server_time_to_first_token_seconds',
    type: 'histogram',
    help: 'Time from the arrival of a request to the first content of its stream.',
    labels: SERVED,
    buckets: FIRST_TOKENS,
  },
  perToken: {
    name: 'gen_ai_server_time_per_output_token_seconds',
    type: 'histogram',
    help: 'Time per output token after the first content of a stream.',
    labels: SERVED,
    buckets: PER_TOKEN,
  },
  tokens: {
    name: 'dragoman_tokens_total',
    type: 'counter',
    help: 'Tokens, by class.',
    labels: ['api', 'provider', 'model', 'token'],
  },
  cost: {
    name: 'dragoman_cost_usd_total',
    type: 'counter',
    help: 'What requests cost, in US dollars. Those whose price is unknown are in dragoman_unpriced_requests_total instead.',
    labels: ['api', 'provider', 'model'],
  },
  unpriced: {
    name: 'dragoman_unpriced_requests_total',
    type: 'counter',
    help: 'Requests that were charged and whose price, or a part of it, is unknown.',
    labels: ['api', 'provider', 'model'],
  },
  keyCost: {
    name: 'dragoman_key_cost_usd_total',
    type: 'counter',
    help: 'What the requests of a key cost, in US dollars.',
    labels: ['project', 'key'],
  },
  attempts: {
    name: 'dragoman_attempts_total',
    type: 'counter',
    help: 'Tries at upstreams.',
    labels: ['provider', 'model', 'outcome'],
  },
  attemptErrors: {
    name: 'dragoman_attempt_errors_total',
    type: 'counter',
    help: 'Tries at upstreams that failed, by the kind of error.',
    labels: ['provider', 'model', 'error'],
  },
  attemptDuration: {
    name: 'gen_ai_client_inference_duration_seconds',
    type: 'histogram',
    help: 'Time of one try at an upstream.',
    labels: ['provider', 'model'],
    buckets: DURATIONS,
  },
  failovers: {
    name: 'dragoman_failovers_total',
    type: 'counter',
    help: 'Times that another endpoint was tried after one had failed; provider and model are those that failed.',
    labels: ['provider', 'model'],
  },
  retries: {
    name: 'dragoman_retries_total',
    type: 'counter',
    help: 'Times that the same endpoint was tried again after it had failed.',
    labels: ['provider', 'model'],
  },
  limitUsed: {
    name: 'dragoman_limit_used_ratio',
    type: 'gauge',
    help: 'How much of a limit or budget of the gateway, a project or a provider is used or reserved; 1 is all of it.',
    labels: ['ownerType', 'owner', 'limit'],
  },
  limitRefusals: {
    name: 'dragoman_limit_refusals_total',
    type: 'counter',
    help: 'Requests that a limit (`rate`) or a budget (`budget`) refused or ended.',
    labels: ['reason'],
  },
  counterCalls: {
    name: 'dragoman_counter_calls_total',
    type: 'counter',
    help: 'Calls to the server of counters, which shares limits among processes: `answered`, or `failed`.',
    labels: ['outcome'],
  },
  counterClaims: {
    name: 'dragoman_counter_claims_total',
    type: 'counter',
    help: 'Counters that these calls were about.',
    labels: [],
  },
  counterWaits: {
    name: 'dragoman_counter_waits_total',
    type: 'counter',
    help: 'Times that a request waited for such a call.',
    labels: [],
  },
  countersRestored: {
    name: 'dragoman_counters_restored_total',
    type: 'counter',
    help: 'Counters that this process has set from the ledger, for all.',
    labels: [],
  },
  sharers: {
    name: 'dragoman_counter_processes',
    type: 'gauge',
    help: 'Processes that share limits, as last known; nothing where limits are not shared.',
    labels: [],
  },
  unreachable: {
    name: 'dragoman_counter_server_unreachable',
    type: 'gauge',
    help: '1 while the server of counters does not answer: each process goes on as `counters.when_unreachable` says.',
    labels: [],
  },
  endpoints: {
    name: 'dragoman_endpoint_state',
    type: 'gauge',
    help: '1 for the state that an endpoint is in, 0 for the others; rate limits and open breakers both leave it alone.',
    labels: ['model', 'endpoint', 'state'],
  },
  running: {
    name: 'dragoman_requests_running',
    type: 'gauge',
    help: 'Requests that are being answered.',
    labels: [],
  },
  streams: {
    name: 'dragoman_streams_running',
    type: 'gauge',
    help: 'Answers that are being streamed.',
    labels: [],
  },
  jobs: {
    name: 'dragoman_jobs',
    type: 'gauge',
    help: 'Jobs in the database, a few seconds ago: the same in every process that shares it.',
    labels: ['kind', 'jobState'],
  },
  jobsOldest: {
    name: 'dragoman_jobs_oldest_seconds',
    type: 'gauge',
    help: 'How long ago the oldest job was added that has not begun.',
    labels: ['kind', 'jobState'],
  },
  jobsRunning: {
    name: 'dragoman_jobs_running',
    type: 'gauge',
    help: 'Jobs that run in this process.',
    labels: [],
  },
  keptStreams: {
    name: 'dragoman_kept_streams',
    type: 'gauge',
    help: 'Streams that clients can resume.',
    labels: [],
  },
  keptStreamBytes: {
    name: 'dragoman_kept_stream_bytes',
    type: 'gauge',
    help: 'Memory of streams that clients can resume.',
    labels: [],
  },
  refusals: {
    name: 'dragoman_overload_refusals_total',
    type: 'counter',
    help: 'Requests that were refused because the process could not take more: `lag`, `memory` of the machine, or `budget` of memory for requests.',
    labels: ['reason'],
  },
  stalls: {
    name: 'dragoman_event_loop_stalls_total',
    type: 'counter',
    help: 'Times that the event loop was later than `server.overload.lag_ms`.',
    labels: [],
  },
  failedKeys: {
    name: 'dragoman_failed_authentications_total',
    type: 'counter',
    help: 'Requests with a key that was refused.',
    labels: [],
  },
  loopDelay: {
    name: 'dragoman_event_loop_delay_seconds',
    type: 'histogram',
    help: 'How late the event loop was, looked at ten times a second.',
    labels: [],
    buckets: DELAYS,
  },
  held: {
    name: 'dragoman_request_memory_bytes',
    type: 'gauge',
    help: 'Memory that requests hold: bodies, what is fetched or held back for them, what waits for slow readers.',
    labels: [],
  },
  journal: {
    name: 'dragoman_ledger_waiting_bytes',
    type: 'gauge',
    help: 'Records that are safe in the journal and not yet in the database.',
    labels: [],
  },
  stuck: {
    name: 'dragoman_ledger_stuck',
    type: 'gauge',
    help: '1 while the database takes no records.',
    labels: [],
  },
  full: {
    name: 'dragoman_ledger_full',
    type: 'gauge',
    help: '1 while the journal is full, or the disk takes nothing: records may be lost.',
    labels: [],
  },
  unrecorded: {
    name: 'dragoman_unrecorded_requests_total',
    type: 'counter',
    help: 'Requests whose record could not be written.',
    labels: [],
  },
  traced: {
    name: 'dragoman_traced_requests_total',
    type: 'counter',
    help: 'Requests whose spans a collector has taken (`exported`), or was too slow to take (`dropped`).',
    labels: ['outcome'],
  },
  payloads: {
    name: 'dragoman_logged_requests_total',
    type: 'counter',
    help: 'Requests of which what each side sent was kept (`kept`), or for which there was no room (`dropped`).',
    labels: ['outcome'],
  },
  resident: {
    name: 'process_resident_memory_bytes',
    type: 'gauge',
    help: 'Memory that the process has.',
    labels: [],
  },
  cpu: {
    name: 'process_cpu_seconds_total',
    type: 'counter',
    help: 'Time for which the process has used processors.',
    labels: [],
  },
  started: {
    name: 'process_start_time_seconds',
    type: 'gauge',
    help: 'When the process began, in seconds since 1970.',
    labels: [],
  },
} as const satisfies Record<string, MetricDefinition>;

export type MetricName = keyof typeof METRICS;
