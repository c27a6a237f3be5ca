// Batches as one protocol shows them: found by the id in the path, and encoded. Knows no protocol by name.
import type { JsonObject } from '../../base/json/index.ts';
import type { ProtocolName } from '../../canonical/index.ts';
import { batchesOf, type ShownBatch } from '../../protocols/index.ts';
import type { ClientCall } from './client-route.ts';
import { isoOf, notFound } from './state-routes.ts';

/** @param protocol whose batches they are; those of others are not found */
export function batchesShown(protocol: ProtocolName) {
  const encoded = (found: ShownBatch): JsonObject => batchesOf(protocol).encode(found, isoOf);
  return {
    encoded,
    shown: (found: ShownBatch): Response => Response.json(encoded(found)),
    /** The batch of the path. Throws GatewayError `not_found`. */
    async findBatch({
      deps,
      projectId,
      param,
    }: Pick<ClientCall, 'deps' | 'projectId' | 'param'>): Promise<ShownBatch> {
      const found = await deps.batches.find(projectId, protocol, param('id'));
      if (found) return found;
      throw notFound('Batch', param('id'));
    },
  };
}
