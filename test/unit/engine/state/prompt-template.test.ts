// Templates: accepted texts, their variables, and the results.
import { describe, expect, test } from 'bun:test';
import type { JsonObject } from '../../../../src/base/json/index.ts';
import { GatewayError } from '../../../../src/canonical/index.ts';
import {
  parseTemplate,
  renderTemplate,
  type RenderedPrompt,
} from '../../../../src/engine/state/prompt-template.ts';

const image: JsonObject = { type: 'input_image', image_url: 'https://tea.example/a.png', detail: 'low' };
const file: JsonObject = { type: 'input_file', file_id: 'file_1' };

function render(template: unknown, variables: JsonObject): RenderedPrompt {
  return renderTemplate(parseTemplate(template, 'template'), variables);
}

function refusal(attempt: () => unknown): { param: string | undefined; message: string } {
  try {
    attempt();
  } catch (error) {
    if (GatewayError.is(error) && error.kind === 'invalid_request')
      return { param: error.param, message: error.message };
    throw error;
  }
  throw new Error('was not refused');
}

describe('variables', () => {
  test('are found in instructions and texts, once each, in order', () => {
    const template = parseTemplate(
      {
        instructions: 'Speak {{ language }} to {{user.name}}.',
        input: [
          { role: 'user', content: '{{question}} in {{language}}' },
          { role: 'user', content: [{ type: 'input_text', text: '{{picture-1}}' }, image] },
        ],
        model: '{{not_here}}',
      },
      'template',
    );
    expect([...template.variables]).toEqual(['language', 'user.name', 'question', 'picture-1']);
  });

  test.each([
    '{{}}',
    '{{ }}',
    '{{1st}}',
    '{{a b}}',
    '{{#if a}}',
    '{ {a} }',
    '{a}',
    '${{ "x" }}',
    '{"a":{"b":{}}}',
  ])('%p is text', (text) => {
    expect(parseTemplate({ input: text }, 'template').variables.size).toBe(0);
    expect(render({ instructions: text }, {}).instructions).toBe(text);
  });
});

describe('rendering', () => {
  test('inserts texts everywhere, and keeps the rest', () => {
    const rendered = render(
      {
        instructions: 'Speak {{language}}.',
        input: [
          { role: 'developer', content: 'In {{language}}: {{question}}' },
          { role: 'user', content: [{ type: 'input_text', text: '{{question}}' }, file] },
        ],
        model: 'sim/chat',
        temperature: 0.2,
      },
      { language: 'French', question: { type: 'input_text', text: 'Why?' } },
    );
    expect(rendered).toEqual({
      instructions: 'Speak French.',
      input: [
        { type: 'message', role: 'developer', content: 'In French: Why?' },
        { type: 'message', role: 'user', content: [{ type: 'input_text', text: 'Why?' }, file] },
      ],
      defaults: { model: 'sim/chat', temperature: 0.2 },
    });
  });

  test.each([
    ['text', '{{a}} '.repeat(1000), 'x'.repeat(1000)],
    ['image', '{{a}}', { ...image, image_url: `data:image/png;base64,${'A'.repeat(1_000_000)}` }],
  ])('refuses a template that a value would make huge: %s', (_, content, a) => {
    const input = Array.from({ length: 40 }, () => ({ role: 'user', content }));
    expect(refusal(() => render({ input }, { a }))).toEqual({
      param: 'prompt.variables.a',
      message: expect.stringContaining('with its variables filled in') as string,
    });
  });

  test('has no more than 100,000 places for variables', () => {
    const template = (places: number): object => ({ instructions: '{{a}}'.repeat(places) });
    expect(render(template(100_000), { a: '' }).instructions).toBe('');
    expect(refusal(() => render(template(100_001), { a: '' })).message).toContain('100000 variables');
  });

  test('finds each of 60,000 variables at once, and each that the template does not have', () => {
    const names = Array.from({ length: 60_000 }, (_, index) => `v${index}`);
    const template = { input: names.map((name) => `{{${name}}}`).join('') };
    const { input } = render(template, Object.fromEntries(names.map((name) => [name, 'x'])));
    expect(input).toEqual([{ type: 'message', role: 'user', content: 'x'.repeat(60_000) }]);
    const others = Object.fromEntries(names.map((name) => [`${name}_`, 'x']));
    expect(refusal(() => render(template, others)).message).toContain('is not a variable of the template');
  });

  test('uses values literally: no value becomes a variable or a pattern', () => {
    const rendered = render({ instructions: '{{a}} {{b}}' }, { a: '{{b}} $& $1 $$', b: '' });
    expect(rendered.instructions).toBe('{{b}} $& $1 $$ ');
  });

  test('puts images and files in the place of the text that is their variable', () => {
    const template = {
      input: [
        {
          role: 'user',
          content: [
            { type: 'input_text', text: ' {{thing}} ' },
            { type: 'input_text', text: 'x' },
          ],
        },
        { role: 'user', content: '{{thing}}' },
      ],
    };
    for (const thing of [image, file])
      expect(render(template, { thing }).input.map(({ content }) => content)).toEqual([
        [thing, { type: 'input_text', text: 'x' }],
        [thing],
      ]);
    expect(render(template, { thing: 'words' }).input[1]?.['content']).toBe('words');
  });

  test.each([
    ['missing', 'Hi {{name}}', {}, 'prompt.variables.name', 'required'],
    ['null', 'Hi {{name}}', { name: null }, 'prompt.variables.name', 'required'],
    ['unknown', 'Hi {{name}}', { name: 'x', nmae: 'y' }, 'prompt.variables.nmae', 'it has name'],
    ['unknown in a template without any', 'Hi', { name: 'x' }, 'prompt.variables.name', 'it has none'],
    ['a number', 'Hi {{name}}', { name: 5 }, 'prompt.variables.name', 'must be a string'],
    [
      'another part',
      'Hi {{name}}',
      { name: { type: 'refusal', refusal: 'x' } },
      'prompt.variables.name',
      'must be',
    ],
    ['an image in a text', 'Hi {{name}}', { name: image }, 'prompt.variables.name', 'inside a text'],
  ] as const)('refuses a variable that is %s', (_, input, variables, param, message) => {
    const refused = refusal(() => render({ input }, variables));
    expect(refused.param).toBe(param);
    expect(refused.message).toContain(message);
  });

  test('refuses an image in instructions, and a member that every object inherits', () => {
    expect(refusal(() => render({ instructions: '{{a}}' }, { a: image })).param).toBe('prompt.variables.a');
    expect(refusal(() => render({ instructions: '{{constructor}}' }, {})).param).toBe(
      'prompt.variables.constructor',
    );
  });
});

describe('a template', () => {
  test.each([
    [null, 'template'],
    ['text', 'template'],
    [{}, 'template'],
    [{ input: [] }, 'template'],
    [{ instructions: '' }, 'template'],
    [{ instructions: 5 }, 'template.instructions'],
    [{ input: 5 }, 'template.input'],
    [{ input: ['text'] }, 'template.input[0]'],
    [{ input: [{ type: 'function_call', call_id: 'c' }] }, 'template.input[0]'],
    [{ input: [{ role: 'robot', content: 'x' }] }, 'template.input[0].role'],
    [{ input: [{ role: 'user' }] }, 'template.input[0].content'],
    [{ input: [{ role: 'user', content: [{ type: 'input_text' }] }] }, 'template.input[0].content'],
    [{ instructions: 'x', stream: true }, 'template.stream'],
    [{ instructions: 'x', previous_response_id: 'resp_1' }, 'template.previous_response_id'],
    [{ instructions: 'x', modle: 'gpt' }, 'template.modle'],
  ])('is not %j', (template, param) => {
    expect(refusal(() => parseTemplate(template, 'template')).param).toBe(param);
  });
});
