// Lets a call in: decodes what it says, puts in everything that it refers to, and takes what it must hold while it runs.
import { isJsonObject, type JsonObject } from '../../base/json/index.ts';
import { type CanonicalRequest, GatewayError } from '../../canonical/index.ts';
import type { Endpoint } from '../../catalog/index.ts';
import type { PromptLibrary } from '../state/prompt-library.ts';
import { mayHideEnd, type ReasoningSeal } from '../adapt/index.ts';
import type { ApiCall, Arrival } from '../call.ts';
import type { GatewayDependencies } from '../dependencies.ts';
import { nameEarlier, withFollowed } from './followed-answer.ts';
import { decodeThreaded } from './thread.ts';
import { hydrate, type Hydrated, type TurnInput } from './hydrate.ts';
import { ignoreStreamOptions } from './ignored-stream-options.ts';
import { namesPrompt, promptedBody } from './prompt.ts';
import { estimateOf } from '../cost-estimate.ts';
import { requireShare } from '../provider-room.ts';
import type { Planned } from './planned.ts';

/**
 * The request of a call, with the prompt template that it names.
 * @throws GatewayError naming every offending field; 404 for an unknown template, and for an earlier answer that is
 *   unknown or another project's
 */
export async function decodeCall(
  { call, settings }: Arrival,
  deps: Pick<GatewayDependencies, 'prompts' | 'ledger' | 'state' | 'clock'>,
): Promise<CanonicalRequest> {
  const { json, protocol } = call;
  const { earlierAnswer: codec } = protocol.server;
  const generationId = codec && isJsonObject(json) ? codec.namedBy(json) : undefined;
  if (codec && generationId !== undefined && isJsonObject(json))
    await nameEarlier(call, json, { generationId, codec }, deps.ledger);
  return decodeNamed(call, settings, deps);
}

async function decodeNamed(
  call: Arrival['call'],
  settings: Arrival['settings'],
  deps: Parameters<typeof decodeCall>[1],
): Promise<CanonicalRequest> {
  const isIgnoring = settings.config.compatibility.ignoreStreamOptions && ignoreStreamOptions(call);
  const { json, protocol, route } = call;
  // Only protocols whose turns are kept know templates.
  if (protocol.server.items && namesPrompt(json))
    return withNotes(await decodePrompted(call, json, deps.prompts), isIgnoring);
  const { threads: codec } = protocol.server;
  const turn = codec && isJsonObject(json) ? codec.read(json) : null;
  if (codec && turn && isJsonObject(json)) return decodeThreaded(call, json, { turn, codec }, deps);
  const request = withNotes(protocol.server.decodeRequest(json, route), isIgnoring);
  return request.follows ? withFollowed(request, request.follows, call, deps.ledger) : request;
}

function withNotes(request: CanonicalRequest, isIgnoring: boolean): CanonicalRequest {
  if (isIgnoring) request.report.add('stream_options', 'dropped', 'means something only in a stream');
  return request;
}

async function decodePrompted(
  { protocol, principal, route }: Arrival['call'],
  json: JsonObject,
  prompts: PromptLibrary,
): Promise<CanonicalRequest> {
  const { own, whole } = await promptedBody(json, principal.projectId, prompts);
  // First by itself: mistakes are named by their place in the client's own words.
  protocol.server.decodeRequest(own, route);
  return protocol.server.decodeRequest(whole, route);
}

/**
 * Lets a request in.
 * @param decoded what the call says
 * @throws GatewayError: 404 for ids that are unknown or another project's, 409 for a conversation that is busy; nothing is
 * held then
 */
export async function admit(
  arrival: Arrival,
  decoded: CanonicalRequest,
  deps: GatewayDependencies,
): Promise<Admitted> {
  const resources = new AcquiredResources();
  try {
    return new Admitted(arrival, decoded, await hydrate(decoded, arrival, deps, resources), resources);
  } catch (error) {
    await resources.release();
    throw error;
  }
}

/** A request that was let in. */
export class Admitted {
  readonly arrival: Arrival;
  /** With everything that it refers to. */
  readonly request: CanonicalRequest;
  /** Input for storing the turn. Null: turns of this protocol are not stored. */
  readonly turn: TurnInput | null;
  /** Stands in front of the client's encoder; null where nothing needs sealing. */
  readonly seal: ReasoningSeal | null;
  readonly #decoded: CanonicalRequest;
  readonly #resources: AcquiredResources;

  constructor(arrival: Arrival, decoded: CanonicalRequest, hydrated: Hydrated, resources: AcquiredResources) {
    this.arrival = arrival;
    this.request = hydrated.request;
    this.turn = hydrated.turn;
    this.seal = hydrated.seal;
    this.#decoded = decoded;
    this.#resources = resources;
  }

  /** Gives back what the request held. Never rejects. */
  release(): Promise<void> {
    return this.#resources.release();
  }

  /**
   * True when the answer may not be relayed: the client's own bytes lack what was completed from storage or mix several
   * protocols, or the client asked for a form that upstreams are never asked for.
   */
  get needsTranslation(): boolean {
    const { request, arrival } = this;
    if (request !== this.#decoded || request.hybrid === true) return true;
    return arrival.call.route?.streamAsArray === true || (request.stream && this.readsOpenWords);
  }

  /** True for a client that reads the open variant of its protocol: it says so in a header, or the operator does. */
  get readsOpenWords(): boolean {
    const { call, settings } = this.arrival;
    const { openHeader } = call.protocol.server;
    if (openHeader === undefined) return false;
    return settings.config.compatibility.openResponses || call.header(openHeader) !== null;
  }

  /** True when the turn is remembered: as a response, in a conversation or a thread, or for the client's connection. */
  get keepsTurn(): boolean {
    const { call } = this.arrival;
    if (this.request.thread || call.memory !== undefined) return true;
    if (call.job?.isKept) return call.protocol.server.items !== undefined;
    const state = call.protocol.server.items && this.request.state;
    return state ? state.store || state.conversationId !== undefined : false;
  }

  /** True when the events of the answer are needed also where it was relayed: for the log or for the vault. */
  needsEvents(endpoint: Endpoint): boolean {
    if (this.arrival.call.recorder?.keeps(false) || this.request.thread) return true;
    if (this.mayHideEnd(endpoint)) return true;
    return this.request.tools.length > 0 && endpoint.reasoningFormat !== null;
  }

  /** True where the client does not get reasoning without words at the end of an answer: the vault keeps it. */
  mayHideEnd(endpoint: Endpoint): boolean {
    return mayHideEnd(this.arrival.call.protocol.server, endpoint);
  }

  /** True when the answer itself is needed after it was sent: for storage, for the log, or for the vault. */
  keeps(endpoint: Endpoint): boolean {
    return this.keepsTurn || this.needsEvents(endpoint);
  }
}

// Lets a planned request begin, as far as limits and budgets are concerned.

/**
 * Reserves what the request is expected to use at the endpoint that is asked first. Models in limits are those of the
 * catalog: whatever name the request had for it.
 * @param inputTokens estimates the prompt; asked only where something is limited
 * @throws GatewayError 429 `rate_limit_exceeded`, also for work that leaves room to others, or 402 `budget_exceeded`; nothing is reserved then
 */
export async function allow(
  { arrival, request, plan, deadlineAt }: Planned,
  inputTokens: () => number,
  { routing, endUsers, limits }: Pick<GatewayDependencies, 'routing' | 'endUsers' | 'limits'>,
): Promise<void> {
  const { quota, call } = arrival;
  const first = plan.candidates[0];
  const isPaid = call.job?.answered !== undefined;
  const share = call.job?.providerShare ?? 1;
  if (first && share < 1 && !isPaid) requireShare(limits, first.endpoint, share);
  if (!quota || !first) return;
  const endUser = endUsers.hashOf(call.principal.projectId, request.endUser);
  const estimate = estimateOf({ request, inputTokens: inputTokens() }, first.endpoint, endUser, routing);
  if (isPaid) await quota.admitPaid(estimate, deadlineAt);
  else await quota.admit(estimate, deadlineAt);
}

// Whether a loss is a 400: the request's header says so first, then its key, then the configuration.

const HEADER = 'x-dragoman-strict';

/**
 * True: a parameter that would be dropped or changed refuses the request.
 * @param configured what the operator's configuration says
 * @throws GatewayError `invalid_request` for a header that is neither `true` nor `false`
 */
export function isStrict({ header, principal }: ApiCall, configured: boolean): boolean {
  switch (header(HEADER)) {
    case null:
      return principal.strict ?? configured;
    case 'true':
      return true;
    case 'false':
      return false;
    default:
      throw new GatewayError('invalid_request', `${HEADER}: must be true or false`, { param: HEADER });
  }
}

// Resources that a request has acquired, released however it ends: the lock of its conversation, and whatever else
// admission takes.

/** Something that only one request, or so many at once, may have. */
export interface Holding {
  /** Gives it back. Called once; never rejects. */
  release(): Promise<void>;
}

export class AcquiredResources {
  #held: Holding[] = [];

  take(holding: Holding): void {
    this.#held.push(holding);
  }

  /** Gives everything back, what was taken last first. */
  async release(): Promise<void> {
    const held = this.#held;
    this.#held = [];
    for (const holding of held.toReversed()) await holding.release();
  }
}
