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
  stage: z.enum(PAYLOAD_STAGES).describe('Who sent it to whom.'),
  attempt: z
    .int()
    .nullable()
    .describe('Place of the attempt, from 0; null for what the client and the gateway said.'),
  method: z.string().nullable().describe('Of requests.'),
  address: z
    .string()
    .nullable()
    .describe(
      'Of requests: path and query from the client, the whole address to an upstream. Secrets are masked.',
    ),
  status: z.int().nullable().describe('Of answers.'),
  headers: z.array(PAIR_OF_TEXTS).describe('Names and values. Secrets are masked.'),
  bytes: z.int().describe('Length of the whole body, though less of it may be kept.'),
  cut: z.boolean().describe('True: only the beginning of the body is kept.'),
  masked: z.boolean().describe('True: the body held credentials, which are not kept.'),
  reads: z
    .array(PAIR_OF_NUMBERS)
    .describe('Each read or write of the body: milliseconds since the request arrived, and bytes.'),
  text: z
    .string()
    .nullable()
    .describe('The body; null where it is no UTF-8: then only the raw bytes are to be had.'),
});

export const PAYLOAD_ROUTES: readonly Route[] = [
  route({
    method: 'get',
    path: '/generations/{id}/payloads',
    tag: 'Generations',
    summary:
      'What each side sent: the client, the gateway to each endpoint, each endpoint, the gateway to the client.',
    description:
      'The list is empty where content logging was off for the request, or where what it kept has expired. It is written a moment after the answer.',
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
    summary: 'The body of one of them, as raw bytes.',
    query: z.strictObject({
      attempt: z.coerce.number().int().min(0).optional().describe('Of which attempt; the last unless given.'),
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
      if (!found) throw new GatewayError('not_found', 'There is no such payload of this generation.');
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
