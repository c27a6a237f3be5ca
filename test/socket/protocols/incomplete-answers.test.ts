// Responses that a Responses upstream ends as incomplete, whatever reason it gives: no client may take one for complete.
import { afterAll, describe, expect, test } from 'bun:test';
import { frame, responsesBody, stream, whole } from '../../support/upstreams/answers.ts';
import { CLIENTS, type ClientProtocol } from '../../support/upstreams/client-dialects.ts';
import { startScene } from '../../support/upstreams/gateway-with-upstreams.ts';

const scene = await startScene(['up']);
afterAll(() => scene[Symbol.asyncDispose]());

const PROTOCOLS = Object.keys(CLIENTS) as ClientProtocol[];
const ITEM = {
  id: 'msg_0123456789abcdef',
  type: 'message',
  status: 'incomplete',
  role: 'assistant',
  content: [{ type: 'output_text', text: 'One, two,', annotations: [], logprobs: [] }],
};

function incomplete(details: object | null): object {
  return { ...responsesBody([ITEM]), status: 'incomplete', incomplete_details: details };
}

async function ask(client: ClientProtocol, details: object | null, isStreamed: boolean): Promise<string> {
  const response = incomplete(details);
  scene
    .upstream('up')
    .script(isStreamed ? stream(frame({ type: 'response.incomplete', response })) : whole(response));
  const { path, ask: bodyFor } = CLIENTS[client];
  const answer = await scene.gateway.post(
    path('one/responses', isStreamed),
    bodyFor('one/responses', isStreamed),
  );
  const text = await answer.text();
  expect([answer.status, text]).toEqual([200, text]);
  return text;
}

/** Words that end a truncated response in each protocol. */
const ENDS: Readonly<Record<ClientProtocol, string>> = {
  'openai-chat': '"finish_reason":"length"',
  'openai-responses': '"status":"incomplete"',
  'anthropic-messages': '"stop_reason":"max_tokens"',
  gemini: '"finishReason":"MAX_TOKENS"',
};

describe.each([{ reason: 'max_messages' }, { reason: 'a_new_reason' }, {}, null])(
  'a response that is incomplete for %j',
  (details) => {
    test.each(PROTOCOLS.flatMap((client) => [[client, false] as const, [client, true] as const]))(
      'is truncated for a client of %s (stream: %p)',
      async (client, isStreamed) => {
        const text = await ask(client, details, isStreamed);
        expect(text).toContain(ENDS[client]);
        expect(text).toContain('One, two,');
        expect(text).not.toContain('response.completed');
      },
    );

    test.each([false, true])('gives a client of Responses that reason (stream: %p)', async (isStreamed) => {
      const text = await ask('openai-responses', details, isStreamed);
      const reason = details && 'reason' in details ? details : null;
      expect(text).toContain(`"incomplete_details":${JSON.stringify(reason)}`);
    });
  },
);
