// Compares the recorded client and upstream payloads of a request by meaning.
import { z } from 'zod';
import { GatewayError, type ReportEntry } from '../../../canonical/index.ts';
import type { AttemptRecord, GenerationRecord } from '../../../accounts/ledger/index.ts';
import type { Payload } from '../../payloads/index.ts';
import type { PayloadStage } from '../../../accounts/ports/index.ts';
import { type Diff, diffSides, readAnswer, readRequest, ROW_STATES } from '../../wire-diff/index.ts';
import { findGeneration } from '../find-generation.ts';
import { route, type Route } from '../route.ts';

const placeSchema = z.object({
  path: z.string().nullable().describe('JSON path in the body; null where it stands in none.'),
  value: z.unknown().describe('As it stands there; long texts are cut.'),
});
const rowSchema = z.object({
  what: z.string().describe('For people: whose it is and what.'),
  state: z
    .enum(ROW_STATES)
    .describe(
      '`same`; `changed`; `dropped`: only whoever said it first, the client in a request and the upstream in an answer; `added`: only the other; `gateway`: for the gateway itself; `form`: a member of an answer that belongs to the form of one protocol.',
    ),
  client: placeSchema.nullable(),
  upstream: placeSchema.nullable(),
  report: z
    .array(z.object({ path: z.string(), action: z.string(), reason: z.string() }))
    .describe('What the translation report says of it.'),
});
const diffSchema = z
  .object({
    rows: z.array(rowSchema),
    by_value: z
      .boolean()
      .describe(
        'True: one body is none that clients could send, and was searched for the values of the other.',
      ),
  })
  .nullable();

export const DIFF_ROUTES: readonly Route[] = [
  route({
    method: 'get',
    path: '/generations/{id}/diff',
    tag: 'Generations',
    summary: 'What client and upstream said, side by side, by meaning: the requests and the answers.',
    description:
      'Made of the payloads that were kept. `request` or `answer` is null where one of the two is missing, was cut, or cannot be read.',
    query: z.strictObject({
      attempt: z.coerce
        .number()
        .int()
        .min(0)
        .optional()
        .describe('With which attempt; the last unless given.'),
    }),
    answer: z.object({
      object: z.literal('generation.diff'),
      id: z.string(),
      attempt: z.int(),
      client_protocol: z.string(),
      upstream_protocol: z.string(),
      lane: z.enum(['relay', 'translate']),
      request: diffSchema,
      answer: diffSchema,
    }),
    refusals: [404],
    run: async ({ deps, param, query }) => {
      const { generation, attempts } = await findGeneration(deps.ledger, param('id'));
      const payloads = await deps.payloads.find(generation.id);
      const ordinal = query.attempt ?? attempts.at(-1)?.ordinal;
      const attempt = attempts.find((each) => each.ordinal === ordinal);
      if (!attempt || payloads.length === 0)
        throw new GatewayError(
          'not_found',
          attempt || attempts.length === 0
            ? 'Nothing was kept of what was said in this request.'
            : 'There is no such attempt of this generation.',
        );
      const found = (stage: PayloadStage, of: number | null): Payload | undefined =>
        payloads.find((each) => each.stage === stage && each.attempt === of && !each.isCut);
      const request = diffRequests(
        generation,
        attempt,
        found('client_request', null),
        found('upstream_request', attempt.ordinal),
      );
      const answer = diffAnswers(
        generation,
        attempt,
        found('client_response', null),
        found('upstream_response', attempt.ordinal),
      );
      return {
        object: 'generation.diff' as const,
        id: generation.id,
        attempt: attempt.ordinal,
        client_protocol: generation.protocol,
        upstream_protocol: attempt.protocol,
        lane: attempt.lane,
        request: request && diffView(request),
        answer: answer && diffView(answer),
      };
    },
  }),
];

function diffRequests(
  { protocol, requestedModel, streamed, report }: GenerationRecord,
  attempt: AttemptRecord,
  client: Payload | undefined,
  upstream: Payload | undefined,
): Diff | null {
  if (!client || !upstream) return null;
  return diffSides({
    client: readRequest({
      protocol,
      route: { model: requestedModel, stream: streamed },
      body: client.body.toString(),
    }),
    upstream: readRequest({
      protocol: attempt.protocol,
      route: { model: attempt.model, stream: streamed },
      body: upstream.body.toString(),
    }),
    from: 'client',
    report,
  });
}

function diffAnswers(
  { protocol }: GenerationRecord,
  attempt: AttemptRecord,
  client: Payload | undefined,
  upstream: Payload | undefined,
): Diff | null {
  if (!client || !upstream) return null;
  const sides = { client: answerOf(protocol, client), upstream: answerOf(attempt.protocol, upstream) };
  return diffSides({ ...sides, from: 'upstream', report: NO_ENTRIES });
}

const NO_ENTRIES: readonly ReportEntry[] = [];

function answerOf(protocol: GenerationRecord['protocol'], { status, headers, body }: Payload) {
  const contentType = headers.find(([name]) => name === 'content-type')?.[1] ?? '';
  return readAnswer({ protocol, status: status ?? 0, contentType, body });
}

function diffView({ rows, isByValue }: Diff): z.input<typeof diffSchema> {
  return {
    rows: rows.map(({ report, ...row }) => ({ ...row, report: report.map((entry) => ({ ...entry })) })),
    by_value: isByValue,
  };
}
