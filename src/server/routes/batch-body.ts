// Stores the requests of a batch from a body as they arrive, without holding the whole body.
import {
  ArrayElements,
  ArrayFault,
  type ArrayPlace,
  asObject,
  type JsonObject,
  readMembers,
} from '../../base/json/index.ts';
import type { StoredFile } from '../../accounts/ports/index.ts';
import { GatewayError, invalidMember } from '../../canonical/index.ts';
import type { RequiredIds } from '../../protocols/index.ts';
import { parseBody } from '../body/body.ts';
import type { ClientCall } from './client-route.ts';

/** The stored requests, and the rest of the body. */
export interface KeptRequests {
  /** Null: the body contains no requests. */
  readonly input: StoredFile | null;
  readonly requests: number;
  /** The body without the requests. */
  readonly rest: JsonObject;
}

/**
 * Stores the elements of an array as lines of a file.
 * @param ids absent: not checked here
 * @throws GatewayError `invalid_request` for an invalid body, once it was read to its end, because a client that is
 * still writing would see a reset connection instead
 */
export async function keepRequests(
  { deps, request, projectId, now }: Pick<ClientCall, 'deps' | 'request' | 'projectId' | 'now'>,
  place: Pick<ArrayPlace, 'path' | 'canonicalName'>,
  ids?: RequiredIds,
): Promise<KeptRequests> {
  const input = await deps.batches.input();
  const name = place.path.join('.');
  try {
    const elements = new ArrayElements({ ...place, most: deps.batches.maxLineBytes });
    const known = new Set<string>();
    let failure: Error | undefined;
    for await (const piece of deps.bodies.pieces(request)) {
      if (failure) continue;
      try {
        for (const element of elements.read(piece)) {
          if (ids) requireId(element, `${name}[${input.requests}]`, ids, known);
          await input.add(element);
        }
      } catch (error) {
        failure = error instanceof Error ? error : GatewayError.from(error);
      }
    }
    if (failure) throw failure;
    const rest = readRest(elements.end());
    if (elements.wasThere && input.requests === 0)
      throw invalidMember(name, 'must contain at least one request');
    const file = elements.wasThere ? await input.keep(projectId, now, deps.expiresAt(now)) : null;
    if (!file) await input.discard();
    return { input: file, requests: input.requests, rest };
  } catch (error) {
    await input.discard();
    if (error instanceof ArrayFault)
      throw new GatewayError('invalid_request', `The body ${error.message}.`, { param: name });
    throw error;
  }
}

/** @param known ids of earlier requests @throws GatewayError `invalid_request` */
function requireId(
  request: Buffer,
  path: string,
  { member, pattern, rule }: RequiredIds,
  known: Set<string>,
): void {
  const id = readMembers(request, new Set([member]))?.[member];
  if (typeof id !== 'string' || !pattern.test(id)) throw invalidMember(`${path}.${member}`, rule);
  if (known.has(id))
    throw invalidMember(`${path}.${member}`, `another request has the id ${id}; make it unique`);
  known.add(id);
}

/** @throws GatewayError `invalid_request` as for every body */
function readRest(text: string): JsonObject {
  return asObject(parseBody(Buffer.from(text)).json);
}
