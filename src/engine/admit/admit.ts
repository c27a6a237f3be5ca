// Admits a call: decodes it, resolves everything that it refers to, and acquires the resources that it holds while it
// runs.
import { isJsonObject, type JsonObject } from '../../base/json/index.ts';
import type { CanonicalRequest } from '../../canonical/index.ts';
import type { Endpoint } from '../../catalog/index.ts';
import type { PromptLibrary } from '../state/prompt-library.ts';
import { mayHideEnd, type ReasoningSeal } from '../adapt/index.ts';
import type { Arrival } from '../call.ts';
import type { GatewayDependencies } from '../dependencies.ts';
import { nameEarlier, withFollowed } from './followed-answer.ts';
import { decodeThreaded } from './thread.ts';
import { hydrate, type Hydrated, type TurnInput } from './hydrate.ts';
import { ignoreStreamOptions } from './ignored-stream-options.ts';
import { namesPrompt, promptedBody } from './prompt.ts';
import { estimateOf } from '../cost-estimate.ts';
import { requireShare } from '../provider-capacity.ts';
import type { Planned } from './planned.ts';

/**
 * Decodes the request of a call, including the prompt template that it names.
 * @throws GatewayError naming every offending field; 404 for an unknown template, and for an earlier answer that is
 * unknown or belongs to another project
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
  // Only protocols whose turns are stored support templates.
  if (protocol.server.items && namesPrompt(json))
    return withNotes(await decodePrompted(call, json, deps.prompts), isIgnoring);
  const { threads: codec } = protocol.server;
  const turn = codec && isJsonObject(json) ? codec.read(json) : null;
  if (codec && turn && isJsonObject(json)) return decodeThreaded(call, json, { turn, codec }, deps);
  const request = withNotes(protocol.server.decodeRequest(json, route), isIgnoring);
  return request.follows ? withFollowed(request, request.follows, call, deps.ledger) : request;
}

function withNotes(request: CanonicalRequest, isIgnoring: boolean): CanonicalRequest {
  if (isIgnoring) request.report.add('stream_options', 'dropped', 'applies only to streams');
  return request;
}

async function decodePrompted(
  { protocol, principal, route }: Arrival['call'],
  json: JsonObject,
  prompts: PromptLibrary,
): Promise<CanonicalRequest> {
  const { own, whole } = await promptedBody(json, principal.projectId, prompts);
  // Decoded separately first, so that errors name positions in the client's own body.
  protocol.server.decodeRequest(own, route);
  return protocol.server.decodeRequest(whole, route);
}

/**
 * Admits a request. Nothing is held if it throws.
 * @param decoded the decoded call
 * @throws GatewayError: 404 for ids that are unknown or belong to another project, 409 for a busy conversation
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

/** An admitted request. */
export class Admitted {
  readonly arrival: Arrival;
  /** The request with everything that it refers to. */
  readonly request: CanonicalRequest;
  /** Input for storing the turn. Null: turns of this protocol are not stored. */
  readonly turn: TurnInput | null;
  /** Precedes the client's encoder. Null: nothing needs sealing. */
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

  /** Releases the resources of the request. Never rejects. */
  release(): Promise<void> {
    return this.#resources.release();
  }

  /**
   * True when the answer must not be relayed: the request was completed from storage, mixes several protocols, or
   * asks for a format that is never requested from upstreams.
   */
  get needsTranslation(): boolean {
    const { request, arrival } = this;
    if (request !== this.#decoded || request.hybrid === true) return true;
    return arrival.call.route?.streamAsArray === true || (request.stream && this.readsOpenWords);
  }

  /** True for a client that reads the open variant of its protocol, as declared by a header or by the operator. */
  get readsOpenWords(): boolean {
    const { call, settings } = this.arrival;
    const { openHeader } = call.protocol.server;
    if (openHeader === undefined) return false;
    return settings.config.compatibility.openResponses || call.header(openHeader) !== null;
  }

  /** True when the turn is stored: as a response, in a conversation or thread, or for the client's connection. */
  get keepsTurn(): boolean {
    const { call } = this.arrival;
    if (this.request.thread || call.memory !== undefined) return true;
    if (call.job?.isKept) return call.protocol.server.items !== undefined;
    const state = call.protocol.server.items && this.request.state;
    return state ? state.store || state.conversationId !== undefined : false;
  }

  /** True when the events of the answer are needed even if it is relayed: for the log or for the vault. */
  needsEvents(endpoint: Endpoint): boolean {
    if (this.arrival.call.recorder?.keeps(false) || this.request.thread) return true;
    if (this.mayHideEnd(endpoint)) return true;
    return this.request.tools.length > 0 && endpoint.reasoningFormat !== null;
  }

  /** True when reasoning without text at the end of an answer is withheld from the client and stored in the vault. */
  mayHideEnd(endpoint: Endpoint): boolean {
    return mayHideEnd(this.arrival.call.protocol.server, endpoint);
  }

  /** True when the answer is still needed after it was sent: for storage, the log or the vault. */
  keeps(endpoint: Endpoint): boolean {
    return this.keepsTurn || this.needsEvents(endpoint);
  }
}

// Limits and budgets of a planned request.

/**
 * Reserves the expected usage at the first endpoint. Nothing is reserved if it throws. Limits use the catalog's model
 * names, whatever name the request used.
 * @param inputTokens estimates the prompt; called only when a limit applies
 * @throws GatewayError 429 `rate_limit_exceeded`, also for work that yields capacity to others, or 402
 * `budget_exceeded`
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

// Resources that a request has acquired, such as the lock of its conversation. They are released however the request
// ends.

/** A resource that only a limited number of requests can hold at once. */
export interface Holding {
  /** Releases it. Called once; never rejects. */
  release(): Promise<void>;
}

export class AcquiredResources {
  #held: Holding[] = [];

  take(holding: Holding): void {
    this.#held.push(holding);
  }

  /** Releases everything in reverse order. */
  async release(): Promise<void> {
    const held = this.#held;
    this.#held = [];
    for (const holding of held.toReversed()) await holding.release();
  }
}
