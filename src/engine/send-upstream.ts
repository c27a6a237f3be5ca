// Hands a request to an upstream: straight away for almost all endpoints; first rewritten for those that host another
// vendor's protocol, and signed for those that no fixed header satisfies.
import type { Endpoint } from '../catalog/index.ts';
import type { JsonValue } from '../canonical/index.ts';
import { GatewayError } from '../canonical/index.ts';
import { editMembers } from '../protocols/index.ts';
import type { Hosting } from '../providers/index.ts';
import type { UpstreamCall, UpstreamClient, UpstreamListener, UpstreamRequest } from '../upstream/client.ts';
import { upstreamCredential } from './upstream-credential.ts';

/**
 * Sends a request.
 * @param refused takes the error when the request cannot be signed; the listener hears nothing then
 */
export function sendUpstream(
  endpoint: Pick<Endpoint, 'hosting' | 'credential'>,
  given: UpstreamRequest,
  upstream: UpstreamClient,
  listener: UpstreamListener,
  refused: (error: GatewayError) => void,
): UpstreamCall {
  const request = endpoint.hosting ? hosted(given, endpoint.hosting) : given;
  if (!endpoint.credential) return upstream.send(request, listener);
  const added = upstreamCredential(endpoint.credential, upstream).headers({ ...request, method: 'POST' });
  const send = (signature: UpstreamRequest['headers']): UpstreamCall =>
    upstream.send({ ...request, headers: { ...request.headers, ...signature } }, listener);
  if (!(added instanceof Promise)) return send(added);
  const call = new PendingCall();
  added.then(
    (signature) => call.begin(() => send(signature)),
    (error: unknown) => call.begin(() => refused(GatewayError.from(error))),
  );
  return call;
}

/** The request as a host wants it: members in and out of the body, and headers that are members there. */
function hosted(request: UpstreamRequest, hosting: Hosting): UpstreamRequest {
  const headers: Record<string, string> = { ...request.headers, ...hosting.headers };
  const set: Record<string, JsonValue> = {};
  for (const [name, value] of Object.entries(hosting.set ?? {})) if (value !== undefined) set[name] = value;
  for (const [header, member] of Object.entries(hosting.headerMembers ?? {})) {
    const value = headers[header];
    if (value === undefined) continue;
    delete headers[header];
    set[member] = value
      .split(',')
      .map((each) => each.trim())
      .filter((each) => each !== '');
  }
  return {
    ...request,
    headers,
    body: editMembers(request.body, { set, remove: hosting.remove, everywhere: true }),
  };
}

/** A call that waits for its signature. */
class PendingCall implements UpstreamCall {
  #call: UpstreamCall | undefined;
  #aborted = false;
  #paused = false;

  /** @param send not called when nobody wants the answer any more */
  begin(send: () => UpstreamCall | void): void {
    if (this.#aborted) return;
    const call = send();
    if (!call) return;
    this.#call = call;
    if (this.#paused) call.pause();
  }

  abort(): void {
    this.#aborted = true;
    this.#call?.abort();
  }

  pause(): void {
    this.#paused = true;
    this.#call?.pause();
  }

  resume(): void {
    this.#paused = false;
    this.#call?.resume();
  }
}
