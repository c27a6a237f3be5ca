// Constant parts of the requests to an endpoint: destination, headers, connection pool and credential mask. Created at
// the first request, because models outside of the catalog have endpoints too.
import { createHash } from 'node:crypto';
import type { JsonValue, MemberEdits } from '../base/json/index.ts';
import type { Parameter } from '../canonical/index.ts';
import { GatewayError, TEXTS } from '../canonical/index.ts';
import type { Endpoint } from '../catalog/index.ts';
import { findProtocol, type Protocol } from '../protocols/index.ts';
import type { HostedOperation, Hosting } from '../catalog/providers/index.ts';
import { EchoMask, secretsOfAsking, secretsOfHeaders } from '../base/telemetry/echo-mask.ts';
import type { PoolName } from '../upstream/connection-pools.ts';
import type { SignatureHeaders } from '../upstream/credential.ts';
import { Destination, type Method } from '../upstream/client.ts';

type Headers = Readonly<Record<string, string>>;
type ClientHeaders = Iterable<readonly [name: string, value: string]>;

/** A request without its body. */
export interface Envelope {
  readonly to: Destination;
  /** Changes that a host requires in every body. Null: none. */
  readonly edits: MemberEdits | null;
}

/** Operation of an endpoint other than making answers. */
export interface Operation {
  readonly url: string;
  readonly method?: Method | undefined;
  /** Media type of the body. Absent: JSON. */
  readonly type?: string | undefined;
  /** True: the answer is streamed. */
  readonly stream?: boolean | undefined;
  /** The host's own changes for this operation, instead of those for answers. */
  readonly hosted?: HostedOperation | undefined;
}

/** Headers of a client that are passed on. */
export interface PassedHeaders {
  readonly headers: ClientHeaders;
  /** Their names, each with the list members to withhold. Undefined: none are passed on. */
  readonly names: ReadonlyMap<string, ReadonlySet<string>> | undefined;
}

const prepared = new WeakMap<Endpoint, PreparedEndpoint>();

/** Returns the same object for the same endpoint. */
export function preparedEndpoint(endpoint: Endpoint): PreparedEndpoint {
  let known = prepared.get(endpoint);
  if (!known) prepared.set(endpoint, (known = new PreparedEndpoint(endpoint)));
  return known;
}

class PreparedEndpoint {
  readonly endpoint: Endpoint;
  /** Parameters that the protocol or the endpoint lacks. */
  readonly lacking: readonly Parameter[];
  readonly #protocol: Protocol;
  #pool: PoolName | undefined;
  /** Headers and envelopes of requests for answers, for whole answers and for streams. */
  readonly #headers: [whole?: Headers, streamed?: Headers] = [];
  readonly #answers: [whole?: Envelope, streamed?: Envelope] = [];
  /** Null: there are no credentials to mask. */
  #mask: EchoMask | null | undefined;
  /** The mask for the last signature, because tokens are sent with many requests as the same object. */
  #signed: { readonly signature: SignatureHeaders; readonly mask: EchoMask | null } | undefined;

  constructor(endpoint: Endpoint) {
    const protocol = findProtocol(endpoint.protocol);
    if (!protocol) throw new GatewayError('unsupported', TEXTS.notImplemented(endpoint.protocol));
    this.endpoint = endpoint;
    this.#protocol = protocol;
    const { alsoTakes = [] } = endpoint;
    const lacks = [...protocol.upstream.lacks].filter((parameter) => !alsoTakes.includes(parameter));
    this.lacking = [...new Set([...lacks, ...endpoint.unsupported])];
  }

  /** Connection pool of its requests. The name contains secrets only as a digest. */
  get pool(): PoolName {
    return (this.#pool ??= poolOf(this.endpoint));
  }

  /**
   * Envelope of a request for an answer.
   * @param passed the client's headers, if both sides use the same protocol, e.g. `anthropic-beta`
   * @throws GatewayError `not_found` for a model whose name cannot be part of an address
   */
  answers(stream: boolean, passed: PassedHeaders): Envelope {
    const place = stream ? 1 : 0;
    const headers = withPassed(this.#headersOf(stream), passed);
    if (headers !== this.#headers[place]) return this.#envelope({ url: this.#url(stream) }, headers);
    return (this.#answers[place] ??= this.#envelope({ url: this.#url(stream) }, headers));
  }

  /** Envelope of another operation. */
  operation(operation: Operation, passed?: PassedHeaders): Envelope {
    const { type, stream = false } = operation;
    const usual = this.#headersOf(stream);
    const headers = type === undefined ? usual : { ...usual, 'content-type': type };
    return this.#envelope(operation, passed ? withPassed(headers, passed) : headers);
  }

  /**
   * Mask that finds the sent credentials. Null: they cannot be distinguished from other text.
   * @param signature headers added to the request; undefined: only fixed headers
   */
  mask(signature: SignatureHeaders | undefined): EchoMask | null {
    if (!signature)
      return this.#mask === undefined ? (this.#mask = EchoMask.of(secretsOf(this.endpoint))) : this.#mask;
    if (this.#signed?.signature !== signature) {
      const mask = EchoMask.of([...secretsOf(this.endpoint), ...secretsOfHeaders(signature)]);
      this.#signed = { signature, mask };
    }
    return this.#signed.mask;
  }

  /** Names are lower case; includes the credential. */
  #headersOf(stream: boolean): Headers {
    const { auth, headers } = this.endpoint;
    return (this.#headers[stream ? 1 : 0] ??= {
      'content-type': 'application/json',
      accept: stream ? 'text/event-stream' : 'application/json',
      'accept-encoding': 'identity',
      'user-agent': 'dragoman',
      ...this.#protocol.upstream.headers,
      ...headers,
      ...(auth ? { [auth.header]: auth.prefix + auth.key.reveal() } : {}),
    });
  }

  #url(stream: boolean): string {
    const { baseUrl, hosting, model } = this.endpoint;
    const { upstream } = this.#protocol;
    const hosted = hosting && ofModel(stream ? hosting.streamPath : hosting.path, model);
    return baseUrl + (hosted ?? upstream.pathFor?.(model, stream) ?? upstream.path);
  }

  #envelope({ url, method, hosted }: Operation, given: Headers): Envelope {
    const { hosting, networkRoute } = this.endpoint;
    if (!hosting) return { to: new Destination({ url, method, headers: given, networkRoute }), edits: null };
    const { headers, members } = hostedHeaders(hosting, given);
    const { set, remove } = hosted ?? hosting;
    const all: Record<string, JsonValue> = {};
    for (const [name, value] of Object.entries({ ...set, ...members }))
      if (value !== undefined) all[name] = value;
    return { to: new Destination({ url, method, headers, networkRoute }), edits: { set: all, remove } };
  }
}

/** Adapts headers to a host: adds its own, and moves some into the body. */
function hostedHeaders(
  hosting: Hosting,
  given: Headers,
): { readonly headers: Headers; readonly members: Record<string, string[]> } {
  const headers: Record<string, string> = { ...given, ...hosting.headers };
  const members: Record<string, string[]> = {};
  for (const [header, member] of Object.entries(hosting.headerMembers ?? {})) {
    const value = headers[header];
    if (value === undefined) continue;
    delete headers[header];
    members[member] = value
      .split(',')
      .map((each) => each.trim())
      .filter((each) => each !== '');
  }
  return { headers, members };
}

/** Returns the same object when nothing is added. */
function withPassed(headers: Headers, { headers: client, names }: PassedHeaders): Headers {
  if (names === undefined) return headers;
  let merged: Record<string, string> | undefined;
  for (const [name, value] of client) {
    const withheld = names.get(name);
    const passed = withheld && withoutWords(value, withheld);
    if (passed) (merged ??= { ...headers })[name] = passed;
  }
  return merged ?? headers;
}

/** Removes words from a comma-separated list. Unchanged if it contains none of them. */
function withoutWords(list: string, words: ReadonlySet<string>): string {
  const all = list.split(',').map((word) => word.trim());
  const left = all.filter((word) => !words.has(word));
  return left.length === all.length ? list : left.join(',');
}

/** Pool name: endpoints of one provider with the same credential share connections across models and addresses. */
function poolOf({ provider, auth, headers, credential, networkRoute }: Endpoint): PoolName {
  const key = auth && [auth.header, auth.prefix, auth.key.reveal()];
  const proof = [key, headers, credential?.id ?? 0, networkRoute?.id];
  const digest = createHash('sha256').update(JSON.stringify(proof)).digest('hex').slice(0, 32);
  return { id: `${provider}\n${digest}`, label: provider };
}

function secretsOf({ auth, headers, baseUrl }: Endpoint): readonly string[] {
  return [...(auth ? [auth.key.reveal()] : []), ...secretsOfAsking(baseUrl, headers)];
}

/**
 * Path of an operation below the base URL.
 * @param own path of the protocol
 * @param hosted the host's own, if it has one
 */
export function operationPath(
  { model }: Pick<Endpoint, 'model'>,
  own: string,
  hosted: HostedOperation | undefined,
): string {
  return hosted ? ofModel(hosted.path, model).replace('{operation}', () => own) : own;
}

/** A host's path for a model, whose name is escaped as one segment. */
function ofModel(path: string, model: string): string {
  if (model === '.' || model === '..')
    throw new GatewayError('not_found', 'No model has this name.', { param: 'model' });
  // Google's versions follow an `@`, which needs no escaping.
  const segment = encodeURIComponent(model).replaceAll('%40', '@');
  return path.replace('{model}', () => segment);
}
