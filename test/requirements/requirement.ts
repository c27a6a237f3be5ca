// The form of an entry in the requirements manifest, and short names for the places that entries point to.

export interface Requirement {
  /** Behaviour of the gateway, in one sentence. */
  readonly behaviour: string;
  /** Origin of the requirement. */
  readonly source: string;
  /** `file` for a golden case, else `file: part of a test's title`. Empty only when all of it comes later. */
  readonly tests: readonly string[];
  /** Part of it that is not here yet: the subject of the issue that brings it. */
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

export const SDK = 'test/clients/sdk/openai.test.ts';
export const SDK_ERRORS = 'test/clients/sdk/openai-errors.test.ts';
export const BODY = 'test/socket/server/bad-input.test.ts';
export const FIELDS = 'test/socket/server/bad-input-fields.test.ts';
export const HTTP = 'test/socket/server/bad-input-http.test.ts';
export const FUZZ_REQUESTS = 'test/socket/server/fuzz-requests.test.ts';
export const FUZZ_STREAMS = 'test/socket/protocols/fuzz-streams.test.ts';
export const CONTINUITY = 'test/scenarios/reasoning-continuity.test.ts';
export const FORMATS = 'test/scenarios/structured-output.test.ts';
export const STRUCTURED = 'test/socket/engine/structured-output.test.ts';
export const CUSTOM_TOOLS = 'test/socket/engine/custom-tools.test.ts';
export const GRAMMARS = 'test/unit/engine/custom-tools-grammar.test.ts';
export const UNSUPPORTED = 'test/scenarios/unsupported-fields.test.ts';
export const BROKEN = 'test/scenarios/streams/broken-streams.test.ts';
export const FAILOVER = 'test/scenarios/faults/failover.test.ts';
export const FAULTS = 'test/scenarios/faults/faults.test.ts';
export const FLAPPING = 'test/scenarios/faults/flapping.test.ts';
export const HELD = 'test/scenarios/streams/held-streams.test.ts';
export const LIMITS = 'test/scenarios/streams/time-limits.test.ts';
export const IDEMPOTENCY = 'test/scenarios/streams/idempotency.test.ts';
export const WIRE = 'test/scenarios/streams/wire-forms.test.ts';
export const ROUTES = 'test/scenarios/routing/routing.test.ts';
export const ROUTE_SHARES = 'test/scenarios/routing/routing-shares.test.ts';
export const ROUTE_CHOICE = 'test/scenarios/routing/routing-choice.test.ts';
export const ROUTE_CACHE = 'test/scenarios/routing/routing-cache.test.ts';
export const ROUTE_KEYS = 'test/scenarios/routing/routing-keys.test.ts';
export const R_STATE = 'test/scenarios/responses/responses-state.test.ts';
export const R_TURNS = 'test/scenarios/responses/responses-conversations.test.ts';
export const R_KILL = 'test/crash/responses-kill.test.ts';
export const R_REASONING = 'test/scenarios/responses/responses-reasoning.test.ts';
export const R_LIMITS = 'test/scenarios/responses/responses-limits.test.ts';
export const R_TOOLS = 'test/scenarios/responses/responses-tools.test.ts';
export const T_SEARCH = 'test/scenarios/tools/tool-search.test.ts';
export const T_LOOP = 'test/scenarios/tools/tool-loop.test.ts';
export const T_MCP = 'test/scenarios/tools/tool-mcp.test.ts';
export const T_APPROVALS = 'test/scenarios/tools/tool-approvals.test.ts';
export const T_SECRETS = 'test/scenarios/tools/tool-secrets.test.ts';
export const T_CLIENTS = 'test/scenarios/tools/tool-clients.test.ts';
export const T_DELIVERY = 'test/scenarios/tools/tool-delivery.test.ts';
export const R_FAILURES = 'test/scenarios/responses/responses-failures.test.ts';
export const R_COMPACT = 'test/socket/protocols/responses/responses-compact.test.ts';
export const R_CODEC = 'test/unit/protocols/responses-server-codec.test.ts';
export const R_PORTABLE = 'test/unit/protocols/responses-tools.test.ts';
export const R_SDK = 'test/clients/sdk/responses-sdk.test.ts';
export const R_STORED = 'test/socket/state/state-responses.test.ts';
export const G_SDK = 'test/clients/sdk/gemini-sdk.test.ts';
export const COUNTS = 'test/socket/engine/count-input.test.ts';
export const POLICY = 'test/unit/engine/adapt/reasoning-policy.test.ts';
export const RECORDED = 'test/recordings/gateway-answers.test.ts';
export const RELAYED = 'test/recordings/gateway-relay.test.ts';
export const PRICE = 'test/unit/accounts/ledger-price.test.ts';
export const LAUNCHER = 'test/packaging/launcher.test.ts';

/** A golden case, without folder and ending. */
export function golden(name: string): string {
  return `test/golden/${name}.txt`;
}
