// The form of an entry in the requirements manifest, and short names for the places that entries point to.

export interface Requirement {
  /** What the gateway does, in one sentence. */
  readonly behaviour: string;
  /** Where the requirement comes from. */
  readonly source: string;
  /** `file` for a golden case, else `file: part of a test's title`. Empty only when all of it comes later. */
  readonly tests: readonly string[];
  /** What of it is not here yet: the subject of the issue that brings it. */
  readonly later?: string;
}

export type Requirements = Readonly<Record<string, Requirement>>;

/** One entry: its behaviour and the tests that show it. */
export function shown(source: string, behaviour: string, ...tests: readonly string[]): Requirement {
  return { source, behaviour, tests };
}

/** One entry that is not here yet, or only as far as these tests show it. */
export function later(
  source: string,
  subject: string,
  behaviour: string,
  ...tests: readonly string[]
): Requirement {
  return { source, behaviour, tests, later: subject };
}

/** Subjects of the issues that bring what is missing. */
export const ROUTING = 'Routing that can be trusted: provider policies, failover, model routing';
export const RESPONSES = 'The Responses API, with state, on any upstream';
export const TOOLS = 'Tools that the gateway runs, and files';
export const PROTOCOLS = 'Every protocol in, every protocol out';
export const HOLDING = 'Limits and budgets that hold, and a management API';
/** For what is wanted and in no issue yet. */
export const UNSCHEDULED = 'not scheduled';

export const SDK = 'test/sdk/openai.test.ts';
export const SDK_ERRORS = 'test/sdk/openai-errors.test.ts';
export const BODY = 'test/bad-input.test.ts';
export const FIELDS = 'test/bad-input-fields.test.ts';
export const HTTP = 'test/bad-input-http.test.ts';
export const FUZZ_REQUESTS = 'test/fuzz-requests.test.ts';
export const FUZZ_STREAMS = 'test/fuzz-streams.test.ts';
export const CONTINUITY = 'test/scenarios/reasoning-continuity.test.ts';
export const FORMATS = 'test/scenarios/structured-output.test.ts';
export const STRUCTURED = 'test/structured-output.test.ts';
export const CUSTOM_TOOLS = 'test/custom-tools.test.ts';
export const GRAMMARS = 'test/custom-tools-grammar.test.ts';
export const UNSUPPORTED = 'test/scenarios/unsupported-fields.test.ts';
export const BROKEN = 'test/scenarios/broken-streams.test.ts';
export const FAILOVER = 'test/scenarios/failover.test.ts';
export const FAULTS = 'test/scenarios/faults.test.ts';
export const FLAPPING = 'test/scenarios/flapping.test.ts';
export const HELD = 'test/scenarios/held-streams.test.ts';
export const LIMITS = 'test/scenarios/time-limits.test.ts';
export const IDEMPOTENCY = 'test/scenarios/idempotency.test.ts';
export const WIRE = 'test/scenarios/wire-forms.test.ts';
export const ROUTES = 'test/scenarios/routing.test.ts';
export const ROUTE_SHARES = 'test/scenarios/routing-shares.test.ts';
export const ROUTE_CHOICE = 'test/scenarios/routing-choice.test.ts';
export const ROUTE_CACHE = 'test/scenarios/routing-cache.test.ts';
export const ROUTE_KEYS = 'test/scenarios/routing-keys.test.ts';
export const R_STATE = 'test/scenarios/responses-state.test.ts';
export const R_TURNS = 'test/scenarios/responses-conversations.test.ts';
export const R_KILL = 'test/scenarios/responses-kill.test.ts';
export const R_REASONING = 'test/scenarios/responses-reasoning.test.ts';
export const R_LIMITS = 'test/scenarios/responses-limits.test.ts';
export const R_TOOLS = 'test/scenarios/responses-tools.test.ts';
export const T_SEARCH = 'test/scenarios/tool-search.test.ts';
export const T_LOOP = 'test/scenarios/tool-loop.test.ts';
export const T_MCP = 'test/scenarios/tool-mcp.test.ts';
export const T_APPROVALS = 'test/scenarios/tool-approvals.test.ts';
export const T_SECRETS = 'test/scenarios/tool-secrets.test.ts';
export const T_CLIENTS = 'test/scenarios/tool-clients.test.ts';
export const T_DELIVERY = 'test/scenarios/tool-delivery.test.ts';
export const R_FAILURES = 'test/scenarios/responses-failures.test.ts';
export const R_COMPACT = 'test/responses-compact.test.ts';
export const R_CODEC = 'test/responses-server-codec.test.ts';
export const R_PORTABLE = 'test/responses-tools.test.ts';
export const R_SDK = 'test/responses-sdk.test.ts';
export const R_STORED = 'test/state-responses.test.ts';
export const G_SDK = 'test/gemini-sdk.test.ts';
export const COUNTS = 'test/count-input.test.ts';
export const POLICY = 'test/unit/engine/adapt/reasoning-policy.test.ts';
export const RECORDED = 'test/recordings/gateway-answers.test.ts';
export const RELAYED = 'test/recordings/gateway-relay.test.ts';
export const PRICE = 'test/ledger-price.test.ts';
export const LAUNCHER = 'test/launcher.test.ts';

/** A golden case, without folder and ending. */
export function golden(name: string): string {
  return `test/golden/${name}.txt`;
}
