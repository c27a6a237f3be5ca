// Requests of a batch that stand in the body of one request, taken as they arrive: a body is never held whole.
import { ArrayElements, ArrayFault } from '../../base/json/index.ts';
import type { StoredFile } from '../../accounts/ports/index.ts';
import { GatewayError } from '../../canonical/index.ts';
import type { ClientCall } from './client-route.ts';

/**
 * Keeps the elements of an array as the lines of a file.
 * @param name member of the body that is the array
 * @throws GatewayError `invalid_request` for another body, once it was read to its end: a client that is still writing would see
 *   a reset connection instead
 */
export async function keepRequests(
  { deps, request, projectId, now }: Pick<ClientCall, 'deps' | 'request' | 'projectId' | 'now'>,
  name: string,
): Promise<{ readonly input: StoredFile; readonly requests: number }> {
  const input = await deps.batches.input();
  try {
    const elements = new ArrayElements(name, deps.batches.maxLineBytes);
    let failure: Error | undefined;
    for await (const piece of deps.bodies.pieces(request)) {
      if (failure) continue;
      try {
        for (const element of elements.read(piece)) await input.add(element);
      } catch (error) {
        failure = error instanceof Error ? error : GatewayError.from(error);
      }
    }
    if (failure) throw failure;
    elements.end();
    if (input.requests === 0) throw new ArrayFault(`holds no ${name}`);
    const file = await input.keep(projectId, now, deps.expiresAt(now));
    return { input: file, requests: input.requests };
  } catch (error) {
    await input.discard();
    if (error instanceof ArrayFault)
      throw new GatewayError('invalid_request', `the body ${error.message}`, { param: name });
    throw error;
  }
}
