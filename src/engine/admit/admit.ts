// Lets a call in: decodes what it says, puts in everything that it refers to, and takes what it must hold while it runs.
import type { CanonicalRequest, JsonObject } from '../../canonical/index.ts';
import type { Endpoint } from '../../catalog/index.ts';
import type { PromptLibrary } from '../../state/prompt-library.ts';
import type { ReasoningSeal } from '../adapt/index.ts';
import type { Arrival } from '../arrival.ts';
import type { GatewayDependencies } from '../dependencies.ts';
import { withFollowed } from './followed-answer.ts';
import { Holdings } from './holdings.ts';
import { type Hydrated, hydrate, type TurnInput } from './hydrate.ts';
import { ignoreStreamOptions } from './ignored-stream-options.ts';
import { namesPrompt, promptedBody } from './prompt.ts';

/**
 * What a call says, with the template that it names.
 * @throws GatewayError naming every offending field; 404 for an unknown template, and for an earlier answer that is
 * unknown or another project's
 */
export function decodeCall(
  { call, settings }: Arrival,
  { prompts, ledger }: Pick<GatewayDependencies, 'prompts' | 'ledger'>,
): CanonicalRequest | Promise<CanonicalRequest> {
  const isIgnoring = settings.config.compatibility.ignoreStreamOptions && ignoreStreamOptions(call);
  const { json, protocol, route } = call;
  // Only protocols whose turns are kept know templates.
  if (protocol.server.items && namesPrompt(json))
    return decodePrompted(call, json, prompts).then((request) => told(request, isIgnoring));
  const request = told(protocol.server.decodeRequest(json, route), isIgnoring);
  return request.follows ? withFollowed(request, request.follows, call, ledger) : request;
}

function told(request: CanonicalRequest, isIgnoring: boolean): CanonicalRequest {
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
 * @returns a promise where anything has to be looked up
 * @throws GatewayError: 404 for ids that are unknown or another project's, 409 for a conversation that is busy; nothing is
 * held then
 */
export function admit(
  arrival: Arrival,
  decoded: CanonicalRequest,
  deps: GatewayDependencies,
): Admitted | Promise<Admitted> {
  const holdings = new Holdings();
  const hydrated = hydrate(decoded, arrival, deps, holdings);
  return hydrated instanceof Promise
    ? admitLater(arrival, decoded, hydrated, holdings)
    : new Admitted(arrival, decoded, hydrated, holdings);
}

async function admitLater(
  arrival: Arrival,
  decoded: CanonicalRequest,
  hydrated: Promise<Hydrated>,
  holdings: Holdings,
): Promise<Admitted> {
  try {
    return new Admitted(arrival, decoded, await hydrated, holdings);
  } catch (error) {
    await holdings.release();
    throw error;
  }
}

/** A request that was let in. */
export class Admitted {
  readonly arrival: Arrival;
  /** With everything that it refers to. */
  readonly request: CanonicalRequest;
  /** What is needed to keep the turn; null for protocols whose turns are not kept. */
  readonly turn: TurnInput | null;
  /** Stands in front of the client's encoder; null where nothing needs sealing. */
  readonly seal: ReasoningSeal | null;
  readonly #decoded: CanonicalRequest;
  readonly #holdings: Holdings;

  constructor(arrival: Arrival, decoded: CanonicalRequest, hydrated: Hydrated, holdings: Holdings) {
    this.arrival = arrival;
    this.request = hydrated.request;
    this.turn = hydrated.turn;
    this.seal = hydrated.seal;
    this.#decoded = decoded;
    this.#holdings = holdings;
  }

  /** Gives back what the request held. Never rejects. @returns undefined where it held nothing */
  release(): Promise<void> | undefined {
    return this.#holdings.release();
  }

  /**
   * True when the answer may not be relayed: the client's own bytes lack what was completed from storage or mix several
   * protocols, or the client asked for a form that upstreams are never asked for.
   */
  get needsTranslation(): boolean {
    const { request, arrival } = this;
    return request !== this.#decoded || request.hybrid === true || arrival.call.route?.streamAsArray === true;
  }

  /** True when the turn is remembered: as a response, in a conversation, or for the client's connection. */
  get keepsTurn(): boolean {
    const { call } = this.arrival;
    if (call.memory !== undefined) return true;
    const state = call.protocol.server.items && this.request.state;
    return state ? state.store || state.conversationId !== undefined : false;
  }

  /** True when the events of the answer are needed also where it was relayed: for the log or for the vault. */
  needsEvents({ reasoningFormat }: Endpoint): boolean {
    if (this.arrival.call.tape?.keeps(false)) return true;
    return this.request.tools.length > 0 && reasoningFormat !== null;
  }

  /** True when the answer itself is needed after it was sent: for storage, for the log, or for the vault. */
  keeps(endpoint: Endpoint): boolean {
    return this.keepsTurn || this.needsEvents(endpoint);
  }
}
