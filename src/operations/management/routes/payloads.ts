// Recorded payloads of each side of a request, without credentials. For admins only.
import { isUtf8 } from 'node:buffer';
import { z } from 'zod';
import { GatewayError } from '../../../canonical/index.ts';
import type { Payload } from '../../payloads/index.ts';
import { PAYLOAD_STAGES } from '../../../accounts/ports/index.ts';
import { findGeneration } from '../find-generation.ts';
import { route, type Route } from '../route.ts';

// Arrays of length 2 instead of tuples, because client generators and fuzzers do not handle `prefixItems`.
const PAIR_OF_TEXTS = z.array(z.string()).length(2);
const PAIR_OF_NUMBERS = z.array(z.number()).length(2);

const payloadSchema = z.object({
  stage: z.enum(PAYLOAD_STAGES).describe('Sender and recipient.'),
  attempt: z.int().nullable().describe('Index of the attempt, from 0; null: between client and gateway.'),
  method: z.string().nullable().describe('Of requests.'),
  address: z
    .string()
    .nullable()
    .describe(
      'Only for requests: path and query of the client, or full URL of the upstream. Secrets are masked.',
    ),
  status: z.int().nullable().describe('Of responses.'),
  headers: z.array(PAIR_OF_TEXTS).describe('Names and values of headers. Secrets are masked.'),
  bytes: z.int().describe('Size of the complete body, which may be larger than the stored part.'),
  cut: z.boolean().describe('True: only the beginning of the body is stored.'),
  masked: z.boolean().describe('True: the body contained credentials, which are not stored.'),
  reads: z
    .array(PAIR_OF_NUMBERS)
    .describe('Each read or write of the body: milliseconds since the request arrived, and bytes.'),
  text: z
    .string()
    .nullable()
    .describe('The body; null if it is not UTF-8. The raw bytes are available as a separate resource.'),
});

export const PAYLOAD_ROUTES: readonly Route[] = [
  route({
    method: 'get',
    path: '/generations/{id}/payloads',
    tag: 'Generations',
    summary: 'Lists the bodies of client, gateway and each endpoint.',
    description:
      'The list is empty if content logging was off for the request, or its payloads have expired. It is written shortly after the response.',
    answer: z.object({
      object: z.literal('generation.payloads'),
      id: z.string(),
      data: z.array(payloadSchema),
    }),
    refusals: [404],
    run: async ({ deps, param }) => {
      const { id } = (await findGeneration(deps.ledger, param('id'))).generation;
      const found = await deps.payloads.find(id);
      return { object: 'generation.payloads' as const, id, data: found.map(viewOf) };
    },
  }),
  route({
    method: 'get',
    path: '/generations/{id}/payloads/{stage}',
    tag: 'Generations',
    summary: 'Returns one body as raw bytes.',
    query: z.strictObject({
      attempt: z.coerce
        .number()
        .int()
        .min(0)
        .optional()
        .describe('Number of the attempt. Default: the last one.'),
    }),
    answer: z.string(),
    media: 'application/octet-stream',
    refusals: [404],
    run: async ({ deps, param, query }) => {
      const { id } = (await findGeneration(deps.ledger, param('id'))).generation;
      const stage = param('stage');
      const found = (await deps.payloads.find(id)).findLast(
        (each) => each.stage === stage && (query.attempt === undefined || each.attempt === query.attempt),
      );
      if (!found) throw new GatewayError('not_found', 'This generation has no such payload.');
      return new Response(new Uint8Array(found.body), {
        headers: { 'content-type': 'application/octet-stream' },
      });
    },
  }),
];

function viewOf(payload: Payload): z.input<typeof payloadSchema> {
  const { stage, attempt, method, address, status, bytes, isCut, isMasked, body } = payload;
  return {
    stage,
    attempt,
    method,
    address,
    status,
    headers: payload.headers.map(([name, value]) => [name, value]),
    bytes,
    cut: isCut,
    masked: isMasked,
    reads: pairsOf(payload.reads),
    text: isUtf8(body) ? body.toString() : null,
  };
}

function pairsOf(flat: readonly number[]): [number, number][] {
  return Array.from({ length: flat.length / 2 }, (_, place) => [
    flat[2 * place] ?? 0,
    flat[2 * place + 1] ?? 0,
  ]);
}
