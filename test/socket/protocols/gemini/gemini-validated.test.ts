// Calls that are held to their schemas: `VALIDATED` of Gemini, `strict` of the others, both ways.
import { afterAll, expect, test } from 'bun:test';
import { chatBody, whole } from '../../../support/upstreams/answers.ts';
import { startScene } from '../../../support/upstreams/gateway-with-upstreams.ts';
import { at } from '../../../support/upstreams/json-path.ts';

const scene = await startScene(['up']);
afterAll(() => scene[Symbol.asyncDispose]());

const SCHEMA = {
  type: 'object',
  properties: { a: { type: 'string' } },
  required: ['a'],
  additionalProperties: false,
};
const SAID = {
  candidates: [{ content: { parts: [{ text: 'Hello' }], role: 'model' }, finishReason: 'STOP', index: 0 }],
};

test.each([
  [undefined, true, { mode: 'VALIDATED' }],
  ['auto', true, { mode: 'VALIDATED' }],
  ['required', true, { mode: 'ANY' }],
  ['none', true, { mode: 'NONE' }],
  ['auto', false, { mode: 'AUTO' }],
] as const)('tool_choice %p with strict: %p is %j', async (choice, strict, config) => {
  scene.upstream('up').script(whole(SAID));
  const response = await scene.gateway.post('/chat/completions', {
    model: 'one/gemini',
    messages: [{ role: 'user', content: 'Hi' }],
    tools: [{ type: 'function', function: { name: 'f', parameters: SCHEMA, strict } }],
    tool_choice: choice,
  });
  expect(response.status).toBe(200);
  expect(at(scene.upstream('up').requests[0]?.json, 'toolConfig', 'functionCallingConfig')).toEqual(config);
  expect(response.headers.get('x-dragoman-report')).toBeNull();
});

test('if only some functions are strict, all become strict, and that is reported', async () => {
  scene.upstream('up').script(whole(SAID));
  const tool = (name: string, strict: boolean): object => ({
    type: 'function',
    function: { name, parameters: SCHEMA, strict },
  });
  const response = await scene.gateway.post('/chat/completions', {
    model: 'one/gemini',
    messages: [{ role: 'user', content: 'Hi' }],
    tools: [tool('f', false), tool('g', true)],
  });
  expect(at(scene.upstream('up').requests[0]?.json, 'toolConfig', 'functionCallingConfig', 'mode')).toBe(
    'VALIDATED',
  );
  expect(response.headers.get('x-dragoman-report')).toBe('tools[1].function.strict:approximated');
});

test.each([
  ['VALIDATED', true],
  ['AUTO', undefined],
] as const)('%s reaches Chat Completions as strict: %p', async (mode, strict) => {
  scene.upstream('up').script(whole(chatBody('Hello')));
  const response = await fetch(`${scene.gateway.origin}/v1beta/models/one/chat:generateContent`, {
    method: 'POST',
    headers: { authorization: 'Bearer sk-test', 'content-type': 'application/json' },
    body: JSON.stringify({
      contents: [{ role: 'user', parts: [{ text: 'Hi' }] }],
      tools: [{ functionDeclarations: [{ name: 'f', parametersJsonSchema: SCHEMA }] }],
      toolConfig: { functionCallingConfig: { mode } },
    }),
  });
  expect(response.status).toBe(200);
  expect(at(scene.upstream('up').requests[0]?.json, 'tools', 0, 'function', 'strict')).toBe(strict);
});
