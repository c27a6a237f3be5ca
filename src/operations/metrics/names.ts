// Definitions of all metrics: name, help and labels. `docs/metrics.md` is generated from them, and dashboards and alert
// rules are checked against them.

/**
 * Labels by their short names in the code. They are named after OpenTelemetry's attributes for generative AI where
 * these exist, with underscores instead of dots (open-telemetry/semantic-conventions-genai, 2026-11).
 */
export const LABELS = {
  api: {
    name: 'api',
    meaning: 'API of the request, as in records: `chat.completions`, `responses`, `messages`, …',
  },
  operation: {
    name: 'gen_ai_operation_name',
    meaning:
      'Operation in the terms of OpenTelemetry: `chat`, `generate_content`, or the name of a task other than text.',
  },
  provider: {
    name: 'gen_ai_provider_name',
    meaning:
      'Name of the configured provider that responded or was tried last; `none`: no provider was called.',
  },
  model: {
    name: 'gen_ai_request_model',
    meaning:
      'Id of the listed model that ran, or was requested if none ran; `other`: all models that are not listed.',
  },
  token: {
    name: 'gen_ai_token_type',
    meaning:
      'Class of tokens: `input`, `input_cache_read`, `input_cache_write`, `input_audio`, `input_image`, `output`, `output_reasoning`, `output_audio`. Each token is in exactly one class.',
  },
  error: { name: 'error_type', meaning: 'Kind of an error, as in [errors](errors.md).' },
  status: {
    name: 'http_response_status_code',
    meaning: 'Status that the client got; 499: the client had disconnected.',
  },
  outcome: {
    name: 'outcome',
    meaning:
      'Of an attempt: `completed`, `failed` or `cancelled`. Of spans: `exported` or `dropped`. Of payloads: `kept` or `dropped`.',
  },
  endpoint: { name: 'endpoint', meaning: 'Name of the endpoint, as in routes and records.' },
  state: {
    name: 'state',
    meaning:
      'State of the circuit breaker. `closed`: healthy; `open`: skipped; `half-open`: being tried again.',
  },
  project: { name: 'project', meaning: 'Name of the project, or the id of a key without a project.' },
  key: { name: 'key', meaning: 'Name of the key; `other` after the first thousand keys.' },
  ownerType: { name: 'owner_type', meaning: '`gateway`, `project` or `provider`.' },
  owner: { name: 'owner', meaning: 'Name of the project or provider; empty for the gateway.' },
  limit: { name: 'limit', meaning: 'The limit in words: `600 requests per minute`.' },
  reason: { name: 'reason', meaning: 'Reason of the refusal.' },
  kind: { name: 'kind', meaning: 'Kind of the job: `response` is a background response.' },
  jobState: {
    name: 'job_state',
    meaning: '`queued`, `waiting` (for a limit), `running`, `completed`, `failed` or `cancelled`.',
  },
} as const satisfies Record<string, { readonly name: string; readonly meaning: string }>;

export type Label = keyof typeof LABELS;

export interface MetricDefinition {
  readonly name: string;
  readonly type: 'counter' | 'gauge' | 'histogram';
  /** One sentence, including the unit if the name does not contain it. */
  readonly help: string;
  readonly labels: readonly Label[];
  /** Upper bounds of a histogram's buckets, ascending, without the unbounded one. */
  readonly buckets?: readonly number[];
}

// Buckets recommended by the conventions (semantic-conventions-genai, gen-ai-metrics.md and client-inference.md,
// 2026-11).
const DURATIONS = [
  0.01, 0.02, 0.04, 0.08, 0.16, 0.32, 0.64, 1.28, 2.56, 5.12, 10.24, 20.48, 40.96, 81.92,
] as const;
const FIRST_TOKENS = [
  0.001, 0.005, 0.01, 0.02, 0.04, 0.06, 0.08, 0.1, 0.25, 0.5, 0.75, 1, 2.5, 5, 7.5, 10,
] as const;
const PER_TOKEN = [0.01, 0.025, 0.05, 0.075, 0.1, 0.15, 0.2, 0.3, 0.4, 0.5, 0.75, 1, 2.5] as const;
const DELAYS = [0.001, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5] as const;

const SERVED: readonly Label[] = ['api', 'operation', 'provider', 'model'];

/** All metrics, by their names in the code. */
export const METRICS = {
  requests: {
    name: 'dragoman_requests_total',
    type: 'counter',
    help: 'Model requests, by the status that the client got.',
    labels: ['api', 'provider', 'model', 'status'],
  },
  errors: {
    name: 'dragoman_request_errors_total',
    type: 'counter',
    help: 'Failed requests by kind of error, including streams that started with status 200.',
    labels: ['api', 'provider', 'model', 'error'],
  },
  duration: {
    name: 'gen_ai_server_request_duration_seconds',
    type: 'histogram',
    help: 'Time from the arrival of a request to the end of its response.',
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
    help: 'Cost of requests in US dollars. Requests with an unknown price are counted in dragoman_unpriced_requests_total instead.',
    labels: ['api', 'provider', 'model'],
  },
  unpriced: {
    name: 'dragoman_unpriced_requests_total',
    type: 'counter',
    help: 'Charged requests whose price is completely or partly unknown.',
    labels: ['api', 'provider', 'model'],
  },
  keyCost: {
    name: 'dragoman_key_cost_usd_total',
    type: 'counter',
    help: 'Cost of the requests of a key in US dollars.',
    labels: ['project', 'key'],
  },
  attempts: {
    name: 'dragoman_attempts_total',
    type: 'counter',
    help: 'Upstream attempts.',
    labels: ['provider', 'model', 'outcome'],
  },
  attemptErrors: {
    name: 'dragoman_attempt_errors_total',
    type: 'counter',
    help: 'Failed upstream attempts by kind of error.',
    labels: ['provider', 'model', 'error'],
  },
  attemptDuration: {
    name: 'gen_ai_client_inference_duration_seconds',
    type: 'histogram',
    help: 'Duration of one upstream attempt.',
    labels: ['provider', 'model'],
    buckets: DURATIONS,
  },
  failovers: {
    name: 'dragoman_failovers_total',
    type: 'counter',
    help: 'Failovers to another endpoint; the labels name the provider and model that failed.',
    labels: ['provider', 'model'],
  },
  retries: {
    name: 'dragoman_retries_total',
    type: 'counter',
    help: 'Retries at the same endpoint after a failure.',
    labels: ['provider', 'model'],
  },
  limitUsed: {
    name: 'dragoman_limit_used_ratio',
    type: 'gauge',
    help: 'Used and reserved share of a limit or budget of the gateway, a project or a provider; 1 is the whole limit.',
    labels: ['ownerType', 'owner', 'limit'],
  },
  limitRefusals: {
    name: 'dragoman_limit_refusals_total',
    type: 'counter',
    help: 'Requests that a limit (`rate`) or a budget (`budget`) refused or stopped.',
    labels: ['reason'],
  },
  counterCalls: {
    name: 'dragoman_counter_calls_total',
    type: 'counter',
    help: 'Calls to the counter server, which shares limits between processes: `answered` or `failed`.',
    labels: ['outcome'],
  },
  counterClaims: {
    name: 'dragoman_counter_claims_total',
    type: 'counter',
    help: 'Counters in calls to the counter server.',
    labels: [],
  },
  counterWaits: {
    name: 'dragoman_counter_waits_total',
    type: 'counter',
    help: 'Requests that waited for a call to the counter server.',
    labels: [],
  },
  countersRestored: {
    name: 'dragoman_counters_restored_total',
    type: 'counter',
    help: 'Counters that this process restored from the ledger for all processes.',
    labels: [],
  },
  sharers: {
    name: 'dragoman_counter_processes',
    type: 'gauge',
    help: 'Last known number of processes that share limits; absent if limits are not shared.',
    labels: [],
  },
  unreachable: {
    name: 'dragoman_counter_server_unreachable',
    type: 'gauge',
    help: '1 while the counter server is unreachable and `counters.when_unreachable` applies.',
    labels: [],
  },
  endpoints: {
    name: 'dragoman_endpoint_state',
    type: 'gauge',
    help: '1 for the current state of an endpoint, 0 for the others; rate limits and open breakers both count as open.',
    labels: ['model', 'endpoint', 'state'],
  },
  running: {
    name: 'dragoman_requests_running',
    type: 'gauge',
    help: 'Running requests.',
    labels: [],
  },
  streams: {
    name: 'dragoman_streams_running',
    type: 'gauge',
    help: 'Running streams.',
    labels: [],
  },
  jobs: {
    name: 'dragoman_jobs',
    type: 'gauge',
    help: 'Jobs in the database, updated every few seconds; the same in all processes that share the database.',
    labels: ['kind', 'jobState'],
  },
  jobsOldest: {
    name: 'dragoman_jobs_oldest_seconds',
    type: 'gauge',
    help: 'Age of the oldest job that has not started.',
    labels: ['kind', 'jobState'],
  },
  jobsRunning: {
    name: 'dragoman_jobs_running',
    type: 'gauge',
    help: 'Running jobs of this process.',
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
    help: 'Memory of streams that clients can resume, in bytes.',
    labels: [],
  },
  refusals: {
    name: 'dragoman_overload_refusals_total',
    type: 'counter',
    help: 'Requests refused because of overload: `lag` of the event loop, `memory` of the machine, or memory `budget` of requests.',
    labels: ['reason'],
  },
  stalls: {
    name: 'dragoman_event_loop_stalls_total',
    type: 'counter',
    help: 'Number of times that the event loop delay exceeded `server.overload.lag_ms`.',
    labels: [],
  },
  failedKeys: {
    name: 'dragoman_failed_authentications_total',
    type: 'counter',
    help: 'Requests with an invalid key.',
    labels: [],
  },
  loopDelay: {
    name: 'dragoman_event_loop_delay_seconds',
    type: 'histogram',
    help: 'Event loop delay, measured ten times a second.',
    labels: [],
    buckets: DELAYS,
  },
  held: {
    name: 'dragoman_request_memory_bytes',
    type: 'gauge',
    help: 'Memory of running requests: bodies, fetched and buffered data, and data for slow clients.',
    labels: [],
  },
  journal: {
    name: 'dragoman_ledger_waiting_bytes',
    type: 'gauge',
    help: 'Size of records in the journal that are not in the database yet.',
    labels: [],
  },
  stuck: {
    name: 'dragoman_ledger_stuck',
    type: 'gauge',
    help: '1 while records cannot be written to the database.',
    labels: [],
  },
  full: {
    name: 'dragoman_ledger_full',
    type: 'gauge',
    help: '1 while the journal or the disk is full, so that records may be lost.',
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
    help: 'Requests whose spans were `exported`, or `dropped` because the collector was too slow.',
    labels: ['outcome'],
  },
  payloads: {
    name: 'dragoman_logged_requests_total',
    type: 'counter',
    help: 'Requests whose bodies were logged (`kept`), or not logged for lack of space (`dropped`).',
    labels: ['outcome'],
  },
  resident: {
    name: 'process_resident_memory_bytes',
    type: 'gauge',
    help: 'Resident memory of the process.',
    labels: [],
  },
  cpu: {
    name: 'process_cpu_seconds_total',
    type: 'counter',
    help: 'CPU time of the process.',
    labels: [],
  },
  started: {
    name: 'process_start_time_seconds',
    type: 'gauge',
    help: 'Start time of the process, in seconds since 1970.',
    labels: [],
  },
} as const satisfies Record<string, MetricDefinition>;

export type MetricName = keyof typeof METRICS;
