// Batches in the format of one protocol: found by path id, listed in pages, encoded.
import type { PageRequest, StoredFile } from '../../accounts/ports/index.ts';
import type { JsonObject } from '../../base/json/index.ts';
import { GatewayError, type ProtocolName, notFound } from '../../canonical/index.ts';
import { BATCH_PURPOSE } from '../../engine/index.ts';
import { batchesOf, type ServedProtocol, servedProtocols, type ShownBatch } from '../../protocols/index.ts';
import type { ClientCall } from './client-route.ts';
import { isoOf } from './state-routes.ts';

type OwnedCall = Pick<ClientCall, 'deps' | 'projectId'>;

/** A page of batches. `before`, if present, replaces `after`: the page ends there. */
export interface BatchPage extends Partial<PageRequest> {
  readonly limit: number;
  readonly before?: string | undefined;
  /** Parameter that names the batch to start at. */
  readonly param?: string;
}

/** @param protocol of the batches; those of others are not found */
export function batchesShown(protocol: ProtocolName) {
  const encoded = (found: ShownBatch): JsonObject => batchesOf(protocol).encode(found, isoOf);
  return {
    encoded,
    shown: (found: ShownBatch): Response => Response.json(encoded(found)),
    /** The batch of the path. Throws GatewayError `not_found`. */
    async findBatch({ deps, projectId, param }: OwnedCall & Pick<ClientCall, 'param'>): Promise<ShownBatch> {
      const found = await deps.batches.find(projectId, protocol, param('id'));
      if (found) return found;
      throw notFound('Batch', param('id'));
    },
    /**
     * Batches of the project, newest first by default.
     * @throws GatewayError `invalid_request` for an unknown batch to start at
     */
    async listed(
      { deps, projectId }: OwnedCall,
      { limit, order = 'desc', after, before, param = 'after' }: BatchPage,
    ): Promise<{
      readonly data: readonly JsonObject[];
      readonly hasMore: boolean;
      readonly lastId?: string;
    }> {
      const page: PageRequest =
        before === undefined ? { limit, order, after } : { limit, order: 'asc', after: before };
      const start = before ?? after;
      if (start !== undefined && !(await deps.batches.find(projectId, protocol, start)))
        throw new GatewayError('invalid_request', `${param}: batch '${start.slice(0, 100)}' not found`, {
          param,
        });
      const { batches, hasMore } = await deps.batches.list(projectId, protocol, page);
      const found = before === undefined ? batches : batches.toReversed();
      const lastId = found.at(-1)?.id;
      return { data: found.map(encoded), hasMore, ...(lastId !== undefined && { lastId }) };
    },
  };
}

/**
 * Input file of a batch.
 * @param param member that names it
 * @throws GatewayError `not_found`, or `invalid_request` for a file of another purpose
 */
export async function lineFile(asked: OwnedCall, id: string, param: string): Promise<StoredFile> {
  const input = await anyFile(asked, id, param);
  if (input.purpose === BATCH_PURPOSE) return input;
  throw new GatewayError(
    'invalid_request',
    `${param}: the file has the purpose '${input.purpose}'; upload it with the purpose '${BATCH_PURPOSE}'`,
    { param },
  );
}

/**
 * A file of the project, for clients whose files have no purpose.
 * @param param member that names it
 * @throws GatewayError `not_found`
 */
export async function anyFile(
  { deps, projectId }: OwnedCall,
  id: string,
  param: string,
): Promise<StoredFile> {
  const found = await deps.files.find(projectId, id);
  if (found) return found;
  throw notFound('File', id, param);
}

/** The protocol that serves a path. @throws TypeError when none does */
export function ownerOf(path: string): ServedProtocol {
  const owner = servedProtocols.find(({ server }) =>
    server.addresses.routes.some((route) => route.path === path),
  );
  if (!owner) throw new TypeError(`no protocol serves ${path}`);
  return owner;
}
