// Decides whether a request may go to its vendor's batch API: it must be a single request to one endpoint and need no
// headers of its own.
import { joined } from '../../base/lib/bytes.ts';
import { findProtocol } from '../../protocols/index.ts';
import type { DeferredRequest } from '../call.ts';
import { preparedEndpoint } from '../prepared-endpoint.ts';
import type { AttemptInput } from './attempt-input.ts';

/** Kinds of tools that clients run. With other tools, an answer may take several requests. */
const CLIENT_TOOLS: ReadonlySet<string> = new Set(['function', 'custom']);

export function mayDefer({ prepared, requester }: AttemptInput): boolean {
  const { endpoint, path, request, passedHeaders } = prepared;
  if (path !== undefined && findProtocol(endpoint.protocol)?.upstream.batches?.answersOnly) return false;
  if (!endpoint.batch || endpoint.hosting || endpoint.credential || request.stream) return false;
  if (!request.tools.every(({ type }) => CLIENT_TOOLS.has(type))) return false;
  if (!passedHeaders) return true;
  for (const [name] of requester.arrival.call.headers) if (passedHeaders.has(name)) return false;
  return true;
}

export function deferred({ prepared }: AttemptInput): DeferredRequest {
  const { endpoint, path, body } = prepared;
  const { to } = preparedEndpoint(endpoint).answers(false, { headers: [], names: undefined });
  return { path: path ?? to.url.slice(endpoint.baseUrl.length), body: joined(body) };
}
