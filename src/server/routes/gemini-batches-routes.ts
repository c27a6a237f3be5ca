// Gemini's batches over HTTP: create from requests in the body or in a file, get, list, cancel and delete.
import { z } from 'zod';
import { GatewayError, TEXTS } from '../../canonical/index.ts';
import {
  aroundResults,
  decodeGeminiBatch,
  type BatchMethod,
  GEMINI_BATCH_METHODS,
  GEMINI_REQUESTS,
  isInline,
  type ServedProtocol,
  type ShownBatch,
} from '../../protocols/index.ts';
import { pageSize } from '../list-page.ts';
import { keepRequests } from './batch-body.ts';
import { type ClientCall, clientRoute, type ClientRoute } from './client-route.ts';
import { anyFile, batchesShown, ownerOf } from './shown-batch.ts';

/** Deadline of the vendor's own batches, and page sizes. */
const WINDOW_MS = 48 * 3_600_000;
const MOST_LISTED = 1_000;
const USUALLY_LISTED = 20;

const operation = z.looseObject({
  name: z.string(),
  metadata: z.looseObject({ state: z.string(), batchStats: z.record(z.string(), z.string()) }),
  done: z.boolean(),
});
const nothing = z.object({});
const ofOne = {
  tag: 'Batches',
  params: { id: { description: 'The part of its name after `batches/`.' } },
} as const;

/** The protocol whose batches these are. */
export const gemini: ServedProtocol = ownerOf('/v1beta/*');
const NAME = gemini.name;
const { findBatch, listed, shown, encoded } = batchesShown(NAME);

export const GEMINI_BATCH_ROUTES: readonly ClientRoute[] = [
  ...GEMINI_BATCH_METHODS.map(creation),
  clientRoute({
    ...ofOne,
    id: 'listGeminiBatches',
    method: 'get',
    path: '/batches',
    summary: 'Lists the batches of the project, newest first, without inline results.',
    query: z.object({
      pageSize: pageSize(MOST_LISTED, USUALLY_LISTED),
      pageToken: z.string().optional().describe('`nextPageToken` of the previous page.'),
    }),
    answer: z.object({ operations: z.array(operation), nextPageToken: z.string().optional() }),
    async run(call) {
      const { pageSize: limit, pageToken: after } = call.query;
      const { data, hasMore, lastId } = await listed(call, { limit, after, param: 'pageToken' });
      return Response.json({ operations: data, ...(hasMore && { nextPageToken: lastId }) });
    },
  }),
  clientRoute({
    ...ofOne,
    id: 'getGeminiBatch',
    method: 'get',
    path: '/batches/{id}',
    summary: 'Returns the status of a batch, with its results if its requests were sent inline.',
    answer: operation,
    refusals: [404],
    async run(call) {
      const found = await findBatch(call);
      return isInline(found) ? withResults(call, found) : shown(found);
    },
  }),
  clientRoute({
    ...ofOne,
    id: 'cancelGeminiBatch',
    method: 'post',
    path: '/batches/{id}:cancel',
    summary: TEXTS.endsBatch,
    answer: nothing,
    refusals: [404],
    async run(call) {
      const { id } = await findBatch(call);
      await call.deps.batches.cancel(call.projectId, id);
      return {};
    },
  }),
  clientRoute({
    ...ofOne,
    id: 'deleteGeminiBatch',
    method: 'delete',
    path: '/batches/{id}',
    summary: TEXTS.forgetsBatch,
    answer: nothing,
    refusals: [404],
    async run(call) {
      const found = await findBatch(call);
      await call.deps.batches.delete(call.projectId, found, found.facts['isInline'] !== true);
      return {};
    },
  }),
];

/** Route of a method that creates batches. */
function creation(method: BatchMethod): ClientRoute {
  return clientRoute({
    tag: 'Batches',
    id: method.operation,
    method: 'post',
    path: `/models/{model}:${method.name}`,
    isDeep: true,
    params: { model: { description: 'The id of a model.', example: method.example.model } },
    summary: `Creates a batch of \`${method.asks}\` requests. Each may name its own model.`,
    bodyMedia: 'application/json',
    body: z.object({
      batch: z.object({
        displayName: z.string().optional(),
        inputConfig: z.object({
          fileName: z.string().optional().describe('`files/` and the id of a file.'),
          requests: z
            .object({
              requests: z.array(
                z.object({
                  request: z.looseObject({}),
                  metadata: z.record(z.string(), z.string()).optional(),
                }),
              ),
            })
            .optional(),
        }),
      }),
    }),
    bodyExample: {
      batch: {
        displayName: 'first',
        inputConfig: {
          requests: {
            requests: [
              {
                request: method.example.request,
                metadata: { key: 'first' },
              },
            ],
          },
        },
      },
    },
    answer: operation,
    refusals: [404],
    async run(call) {
      const { deps, principal, request, param } = call;
      const { input: kept, requests, rest } = await keepRequests(call, GEMINI_REQUESTS);
      const { inputFile, facts } = decodeGeminiBatch(method, param('model'), rest, requests);
      const input = kept ?? (await anyFile(call, inputFile ?? '', 'batch.inputConfig.fileName'));
      const headers = request.headers.entries();
      const asked = { principal, protocol: NAME, input, facts, windowMs: WINDOW_MS, headers };
      return shown(await deps.batches.submit(asked));
    },
  });
}

/** A batch with its results, streamed. */
async function withResults({ deps, projectId }: ClientCall, found: ShownBatch): Promise<Response> {
  const { outputFile } = found;
  const file = outputFile === null ? null : await deps.files.find(projectId, outputFile);
  if (!file) return shown(found);
  const open = async (): Promise<AsyncIterable<Uint8Array>> => {
    const content = await deps.files.stream(file);
    if (content) return content;
    throw new GatewayError('not_found', `The results of the batch '${found.id}' are no longer stored.`);
  };
  const pieces = withLists(aroundResults(encoded(found)), open);
  const body = new ReadableStream<Uint8Array>({
    async pull(controller) {
      const { done, value } = await pieces.next();
      if (done) controller.close();
      else controller.enqueue(value);
    },
    cancel: async () => void (await pieces.return()),
  });
  return new Response(body, { headers: { 'content-type': 'application/json' } });
}

const NEWLINE = 10;
const COMMA = 44;

/** Texts with lists of JSON lines between them. */
async function* withLists(
  texts: readonly string[],
  open: () => Promise<AsyncIterable<Uint8Array>>,
): AsyncGenerator<Uint8Array, void, undefined> {
  for (const [index, text] of texts.entries()) {
    if (index > 0) yield* elementsOf(await open());
    yield Buffer.from(text);
  }
}

/** Each line ends with its only line break. */
async function* elementsOf(lines: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array, void, undefined> {
  let isBetween = false;
  for await (const chunk of lines) {
    if (chunk.length === 0) continue;
    const bytes = Buffer.from(chunk);
    if (isBetween) yield Buffer.of(COMMA);
    isBetween = bytes.at(-1) === NEWLINE;
    const list = isBetween ? bytes.subarray(0, -1) : bytes;
    for (let at = list.indexOf(NEWLINE); at >= 0; at = list.indexOf(NEWLINE, at)) list[at] = COMMA;
    yield list;
  }
}
