// Sends a client's request again as a new generation, and compares answer, tokens, cost and time.
import { z } from 'zod';
import { GatewayError, inputTokens, outputTokens, TEXTS } from '../../../canonical/index.ts';
import type { GenerationRecord } from '../../../accounts/ledger/index.ts';
import type { Payload } from '../../payloads/index.ts';
import { MASK } from '../../../base/telemetry/redact.ts';
import { answerText } from '../../wire-diff/index.ts';
import { findGeneration } from '../find-generation.ts';
import { route, type Route } from '../route.ts';

const text = z.string().nullable();
const count = z.int().nullable();
const runSchema = z.object({
  id: z.string(),
  status: z.int(),
  model: text,
  provider: text,
  endpoint: text,
  attempts: z.int(),
  finish_reason: text,
  input_tokens: count,
  output_tokens: count,
  reasoning_tokens: count,
  usd: z.number().nullable(),
  first_content_ms: z.number().nullable().describe('Null: not streamed.'),
  duration_ms: z.number(),
  answer: text.describe('Text and tool calls of the response; null: not logged, or unreadable.'),
});

export const REPLAY_ROUTES: readonly Route[] = [
  route({
    method: 'post',
    path: '/generations/{id}/replay',
    tag: 'Generations',
    summary: 'Sends the request of the client again, and compares the results.',
    description:
      'The request runs as a new generation of the same key: limits apply, and it has a cost. Its record refers to the original (`replay_of`). The response is a 409 with the code `not_replayable` if the request was not logged completely, contained credentials, or would repeat an action.',
    body: z.strictObject({
      model: z.string().min(1).max(256).optional().describe('Model to use instead of the original one.'),
      provider: z
        .string()
        .min(1)
        .max(256)
        .optional()
        .describe('Only provider, or endpoint as `provider/name`, to use.'),
      tools: z
        .boolean()
        .default(false)
        .describe('Run tools of the gateway again, such as web search and MCP servers.'),
    }),
    answer: z.object({
      object: z.literal('generation.replay'),
      id: z.string().describe('Id of the new generation.'),
      replay_of: z.string(),
      before: runSchema,
      after: runSchema,
      same_answer: z.boolean().nullable().describe('Null: one of them is unknown.'),
    }),
    refusals: [404, 409],
    run: async ({ deps, param, body, reader }) => {
      const { generation } = await findGeneration(deps.ledger, param('id'));
      const payloads = await deps.payloads.find(generation.id);
      const asked = replayable(payloads.find(({ stage }) => stage === 'client_request'));
      const recorded = payloads.find(({ stage, isCut }) => stage === 'client_response' && !isCut);
      reader.stays();
      const { protocol, api, id } = generation;
      const answered = await deps.replay(
        {
          replayOf: id,
          protocol,
          api,
          principal: deps.keyById(generation.keyId),
          address: asked.address ?? '',
          headers: asked.headers.filter(([, value]) => !value.includes(MASK)),
          body: asked.body,
          model: body.model ?? null,
          provider: body.provider ?? null,
          mayActAgain: body.tools,
        },
        reader.signal,
      );
      const after = (await findGeneration(deps.ledger, answered.id)).generation;
      const before = recorded ? answerText({ protocol, ...formOf(recorded) }) : null;
      const now = answerText({ protocol, ...answered });
      return {
        object: 'generation.replay' as const,
        id: after.id,
        replay_of: id,
        before: runOf(generation, before),
        after: runOf(after, now),
        same_answer: before === null || now === null ? null : before === now,
      };
    },
  }),
];

/** @throws GatewayError `conflict` if the request was not recorded, is truncated, or contained credentials */
function replayable(payload: Payload | undefined): Payload {
  const reason = !payload
    ? 'its body was not logged (`logging.content` applies to later requests)'
    : payload.isCut
      ? 'only the beginning of its body was logged'
      : payload.isMasked
        ? 'it contained credentials, which are not logged'
        : null;
  if (payload && reason === null) return payload;
  throw new GatewayError('conflict', TEXTS.notReplayable(reason), {
    code: 'not_replayable',
  });
}

function formOf({ status, headers, body }: Payload) {
  const contentType = headers.find(([name]) => name === 'content-type')?.[1] ?? '';
  return { status: status ?? 0, contentType, body };
}

function runOf(g: GenerationRecord, answer: string | null): z.input<typeof runSchema> {
  return {
    id: g.id,
    status: g.status,
    model: g.model,
    provider: g.provider,
    endpoint: g.endpoint,
    attempts: g.attempts,
    finish_reason: g.finishReason,
    input_tokens: g.usage && inputTokens(g.usage),
    output_tokens: g.usage && outputTokens(g.usage),
    reasoning_tokens: g.usage && g.usage.output.reasoning,
    usd: g.cost && g.cost.usd,
    first_content_ms: g.streamed && g.firstContentAt !== null ? g.firstContentAt - g.createdAt : null,
    duration_ms: g.endedAt - g.createdAt,
    answer,
  };
}
