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
  path: z.string().nullable().describe('JSON path in the body; null: not in a body.'),
  value: z.unknown().describe('Value at this path. Long texts are truncated.'),
});
const rowSchema = z.object({
  what: z.string().describe('Description of the value.'),
  state: z
    .enum(ROW_STATES)
    .describe(
      "`same`; `changed`; `dropped`: only in the original (the client's request or the upstream's response); `added`: only in the forwarded body; `gateway`: for the gateway itself; `form`: a response member that only one protocol has.",
    ),
  client: placeSchema.nullable(),
  upstream: placeSchema.nullable(),
  report: z
    .array(z.object({ path: z.string(), action: z.string(), reason: z.string() }))
    .describe('Entry of the translation report.'),
});
const diffSchema = z
  .object({
    rows: z.array(rowSchema),
    by_value: z
      .boolean()
      .describe(
        'True: one body is not in a client protocol; it was only searched for the values of the other.',
      ),
  })
  .nullable();

export const DIFF_ROUTES: readonly Route[] = [
  route({
    method: 'get',
    path: '/generations/{id}/diff',
    tag: 'Generations',
    summary: 'Compares requests and responses of client and upstream by meaning.',
    description:
      'Uses logged payloads. `request` or `answer` is null if one of the two bodies is missing, truncated or unreadable.',
    query: z.strictObject({
      attempt: z.coerce
        .number()
        .int()
        .min(0)
        .optional()
        .describe('Number of the attempt. Default: the last one.'),
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
            ? 'No payloads of this request were logged. Set `logging.content` to log them.'
            : 'This generation has no such attempt.',
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
