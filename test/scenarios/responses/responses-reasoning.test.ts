// Reasoning that only its own family can read goes through clients of the Responses API and comes back byte for byte:
// sent back by the client, kept by the gateway, or found again in the vault. Elsewhere it is dropped, and that is said.
import { afterAll, describe, expect, test } from 'bun:test';
import { at, list, type Json } from '../../support/upstreams/json-path.ts';
import {
  OTHER_KEY_HEADERS,
  ask,
  result,
  says,
  startResponses,
  reported,
  WEATHER,
  type Answered,
  type Said,
  type Way,
} from '../../support/responses-scene.ts';

const scene = await startResponses();
afterAll(() => scene[Symbol.asyncDispose]());

const INCLUDE = { include: ['reasoning.encrypted_content'] };
const COMMON = { tools: [WEATHER], reasoning: { effort: 'medium' } } as const;
const QUESTION = { role: 'user', content: 'Weather in Zürich?' };
// Line breaks, quotes, a character outside the basic plane, and base64 as providers sign with.
const THOUGHTS: Readonly<Record<'messages' | 'responses', Said>> = {
  messages: { thought: 'First line.\n\n"Quoted" \\ and 🧭 — end', sealed: 'EqMDCkYIBxgCKkBq+/3x1mQ==' },
  responses: { thought: '**Looking** for “weather”', sealed: 'gAAAAABo+/x=='.repeat(20) },
};
const FAMILIES = ['messages', 'responses'] as const;
type Family = (typeof FAMILIES)[number];

let calls = 0;
/** The turns of one test call under an id of their own: the vault would know others. */
function toolTurn(family: Family): { said: readonly Said[]; callId: string; line: string } {
  const callId = `${family === 'messages' ? 'toolu' : 'call'}_reason${++calls}`;
  const thought = THOUGHTS[family] as { thought: string; sealed: string };
  return {
    said: [thought, { text: 'Let me look.' }, { call: 'get_weather', id: callId, args: { city: 'Zürich' } }],
    callId,
    line: `thought ${thought.thought} ${thought.sealed}`,
  };
}

/** The second turn as the upstream was told it, without its system text. */
function secondReported(): string[] {
  return reported(scene.upstream.requests[1]);
}

function reasoningOf(answer: Answered): readonly Json[] {
  return list(answer.body, 'output').filter((item) => at(item, 'type') === 'reasoning');
}

describe.each(FAMILIES.flatMap((family) => [false, true].map((stream) => [family, stream] as const)))(
  'over %s, turn one streamed: %p',
  (family, stream) => {
    const whole = (line: string, callId: string): string[] => [
      'user: Weather in Zürich?',
      line,
      'assistant: Let me look.',
      `call get_weather {"city":"Zürich"} ${callId}`,
      `result ${callId}: sunny`,
    ];

    test('continues if a client sends back the encrypted reasoning that it requested', async () => {
      const { said, callId, line } = toolTurn(family);
      scene.upstream.script(says(family, said), says(family, [{ text: 'Sunny.' }]));
      const body = { ...COMMON, ...INCLUDE, store: false };
      const first = await ask(scene, family, { ...body, input: [QUESTION] }, stream);
      const [reasoning] = reasoningOf(first);
      const sealed = String(at(reasoning, 'encrypted_content'));
      expect(sealed.length).toBeGreaterThan(20);
      // Reasoning that another family sealed travels in an envelope of ours; OpenAI's own as it is.
      expect(sealed.startsWith('dgm1_')).toBe(family === 'messages');
      const input = [QUESTION, ...list(first.body, 'output'), result(callId, 'sunny')];
      const second = await ask(scene, family, { ...body, input }, false);
      expect(second.status).toBe(200);
      expect(secondReported()).toEqual(whole(line, callId));
      expect(second.report).not.toContain('dropped');
    });

    test('continues if a client sends back only the envelope', async () => {
      const { said, callId, line } = toolTurn(family);
      scene.upstream.script(says(family, said), says(family, [{ text: 'Sunny.' }]));
      const body = { ...COMMON, ...INCLUDE, store: false };
      const first = await ask(scene, family, { ...body, input: [QUESTION] }, stream);
      const output = list(first.body, 'output').map((item) =>
        at(item, 'type') === 'reasoning'
          ? {
              ...(item as object),
              summary: family === 'messages' ? [] : at(item, 'summary'),
              content: undefined,
            }
          : item,
      );
      await ask(scene, family, { ...body, input: [QUESTION, ...output, result(callId, 'sunny')] }, false);
      expect(secondReported()).toEqual(whole(line, callId));
    });

    test('reasoning that the gateway stores returns under previous_response_id', async () => {
      const { said, callId, line } = toolTurn(family);
      scene.upstream.script(says(family, said), says(family, [{ text: 'Sunny.' }]));
      const first = await ask(scene, family, { ...COMMON, input: [QUESTION] }, stream);
      expect(JSON.stringify(first.body)).not.toContain('encrypted_content');
      const body = { ...COMMON, previous_response_id: first.id, input: [result(callId, 'sunny')] };
      await ask(scene, family, body, false);
      expect(secondReported()).toEqual(whole(line, callId));
    });

    test('reasoning that the gateway stores returns in a conversation', async () => {
      const { said, callId, line } = toolTurn(family);
      const made = await (await scene.gateway.post('/conversations', {})).json();
      const conversation = String(at(made, 'id'));
      scene.upstream.script(says(family, said), says(family, [{ text: 'Sunny.' }]));
      const body = { ...COMMON, conversation, store: false };
      await ask(scene, family, { ...body, input: [QUESTION] }, stream);
      await ask(scene, family, { ...body, input: [result(callId, 'sunny')] }, false);
      expect(secondReported()).toEqual(whole(line, callId));
    });

    test('reasoning that the client lost is found by its tool call', async () => {
      const { said, callId, line } = toolTurn(family);
      scene.upstream.script(says(family, said), says(family, [{ text: 'Sunny.' }]));
      const body = { ...COMMON, store: false };
      const first = await ask(scene, family, { ...body, input: [QUESTION] }, stream);
      const output = list(first.body, 'output').filter((item) => at(item, 'type') !== 'reasoning');
      await ask(scene, family, { ...body, input: [QUESTION, ...output, result(callId, 'sunny')] }, false);
      expect(secondReported()).toEqual(whole(line, callId));
    });

    test('the gate: nothing encrypted in an answer without include, everything with it', async () => {
      const { said } = toolTurn(family);
      scene.upstream.script(says(family, said), says(family, said), says(family, said));
      for (const store of [true, false]) {
        const hidden = await ask(scene, family, { ...COMMON, store, input: [QUESTION] }, stream);
        expect(JSON.stringify([hidden.body, hidden.frames])).not.toContain('encrypted_content');
        expect(reasoningOf(hidden)).toHaveLength(1);
      }
      const shown = await ask(scene, family, { ...COMMON, ...INCLUDE, input: [QUESTION] }, stream);
      expect(at(reasoningOf(shown)[0], 'encrypted_content')).toBeString();
      const found = await scene.gateway.get(`/responses/${shown.id}?include[]=reasoning.encrypted_content`);
      expect(at(await found.json(), 'output', 0, 'encrypted_content')).toBe(
        at(shown.body, 'output', 0, 'encrypted_content'),
      );
    });
  },
);

describe('at another family’s provider', () => {
  const others: readonly (readonly [Family, Way])[] = [
    ['messages', 'responses'],
    ['messages', 'chat'],
    ['responses', 'messages'],
    ['responses', 'chat'],
  ];

  test.each(others)('what %s sealed is not sent over %s, and that is reported', async (family, way) => {
    const { said, callId } = toolTurn(family);
    const thought = THOUGHTS[family] as { sealed: string };
    for (const how of ['resent', 'continued'] as const) {
      scene.upstream.script(says(family, said), says(way, [{ text: 'Sunny.' }]));
      const first = await ask(scene, family, { ...COMMON, ...INCLUDE, input: [QUESTION] }, false);
      const next =
        how === 'resent'
          ? { input: [QUESTION, ...list(first.body, 'output'), result(callId, 'sunny')] }
          : { input: [result(callId, 'sunny')], previous_response_id: first.id };
      const second = await ask(scene, way, { ...COMMON, ...next }, true);
      expect(second.status).toBe(200);
      const sent = scene.upstream.requests[1]?.text ?? '';
      expect(sent).not.toContain(JSON.stringify(thought.sealed).slice(1, -1));
      expect(sent).not.toContain('dgm1_');
      expect(second.report).toMatch(how === 'resent' ? /input.*:dropped/ : /previous_response_id.*:dropped/);
      expect(reported(scene.upstream.requests[1]).slice(-2)).toEqual([
        `call get_weather {"city":"Zürich"} ${callId}`,
        `result ${callId}: sunny`,
      ]);
    }
  });

  test('returns to its own family unchanged', async () => {
    const { said, callId, line } = toolTurn('messages');
    scene.upstream.script(
      says('messages', said),
      says('responses', [{ thought: 'Mine.', sealed: 'gAAAAmine==' }, { text: 'Sunny.' }]),
      says('messages', [{ text: 'As I said.' }]),
    );
    const first = await ask(scene, 'messages', { ...COMMON, input: [QUESTION] }, true);
    const second = await ask(
      scene,
      'responses',
      { ...COMMON, input: [result(callId, 'sunny')], previous_response_id: first.id },
      true,
    );
    await ask(scene, 'messages', { ...COMMON, input: 'Sure?', previous_response_id: second.id }, false);
    const sent = reported(scene.upstream.requests[2]);
    expect(sent).toContain(line);
    expect(scene.upstream.requests[2]?.text).not.toContain('gAAAAmine');
    expect(sent.slice(-2)).toEqual(['assistant: Sunny.', 'user: Sure?']);
  });
});

describe('an envelope that cannot be opened', () => {
  /** A first turn's output, and a second turn with what became of it. */
  async function withOutput(
    change: (sealed: string) => string,
    headers: Record<string, string> = {},
  ): Promise<Answered> {
    const { said, callId } = toolTurn('messages');
    scene.upstream.script(says('messages', said), says('messages', [{ text: 'Sunny.' }]));
    const body = { ...COMMON, ...INCLUDE, store: false };
    const first = await ask(scene, 'messages', { ...body, input: [QUESTION] }, false);
    const output = list(first.body, 'output').map((item) => {
      const sealed = at(item, 'encrypted_content');
      return typeof sealed === 'string'
        ? { ...(item as object), encrypted_content: change(sealed) }
        : // Another call than the vault knows.
          (JSON.parse(JSON.stringify(item).replaceAll(callId, `${callId}x`)) as Json);
    });
    const input = [QUESTION, ...output, result(`${callId}x`, 'sunny')];
    return ask(scene, 'messages', { ...body, input }, false, headers);
  }
  const flipped = (sealed: string): string => {
    const at = Math.floor(sealed.length / 2);
    return sealed.slice(0, at) + (sealed[at] === 'A' ? 'B' : 'A') + sealed.slice(at + 1);
  };

  test.each([
    ['of another key', (sealed: string) => sealed, OTHER_KEY_HEADERS],
    ['that was changed', flipped, {}],
    ['that was cut', (sealed: string) => sealed.slice(0, 30), {}],
    ['that holds nothing', () => 'dgm1_', {}],
    ['of no server at all', () => 'dgm1_!!!', {}],
  ] as const)('%s is dropped and reported, never a failure', async (_, change, headers) => {
    const answer = await withOutput(change, headers);
    expect(answer.status).toBe(200);
    expect(answer.report).toMatch(/input\[1\][^,]*:dropped/);
    const sent = scene.upstream.requests[1]?.text ?? '';
    expect(sent).not.toContain('EqMDCkYIBxgCKkBq');
    expect(sent).not.toContain('dgm1_');
  });

  test('a complete envelope is opened', async () => {
    const answer = await withOutput((sealed) => sealed);
    expect(answer.report).not.toContain('dropped');
    expect(scene.upstream.requests[1]?.text).toContain('EqMDCkYIBxgCKkBq');
  });
});
