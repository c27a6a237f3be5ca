// A hostile client and its bodies: too large, too deep, too many, or expensive to check, compile, count or read.
import { askAll, only, statusesOf, times, reported } from './client.ts';
import type { Scenario } from './scene.ts';
import type { Answer } from './sockets.ts';

const MB = 1024 * 1024;
const HELLO = [{ role: 'user', content: 'Hello' }];

/** A chat request with one member that is written by hand. */
function withMember(member: string, model = 'relay/m'): string {
  return `{"model":"${model}","messages":${JSON.stringify(HELLO)},${member}}`;
}

/** A template of this many variables. */
function template(variables: number): object {
  const text = times(variables, (index) => `{{v${index}}}`).join('');
  return { template: { input: [{ role: 'user', content: text }] } };
}

/** Objects in objects, each in a member of the one before. */
function nested(depth: number): string {
  return `${'{"a":'.repeat(depth)}1${'}'.repeat(depth)}`;
}

export const BODIES: readonly Scenario[] = [
  {
    title: 'eight bodies of 30 MB that open lists and never close them',
    async attack(scene) {
      const answers = await askAll(
        scene,
        times(8, () => '['.repeat(30 * MB)),
      );
      return { statuses: statusesOf(answers), first: reported(answers[0] as Answer) };
    },
    gets: { statuses: only(400, 503) },
  },
  {
    title: 'half a million values, and objects in objects',
    async attack(scene) {
      const many = `[${'0,'.repeat(5_000_000)}0]`;
      const answers = await askAll(scene, [
        withMember(`"metadata":${many}`),
        withMember(`"metadata":${nested(200_000)}`),
        withMember(`"a":${'[{"b":'.repeat(400_000)}`),
      ]);
      return { statuses: statusesOf(answers) };
    },
    gets: { statuses: { 400: 3 } },
  },
  {
    title: 'a prompt template of 60,000 variables, and one of 30 MB',
    async attack(scene) {
      const parts = { path: '/v1/prompts' };
      const many = await scene.ask(template(60_000), parts);
      const large = await scene.ask({ template: { input: '{{a}}'.repeat(6 * MB) } }, parts);
      return { many: many.status, large: large.status };
    },
    gets: { many: (status) => status === 200 || status === 400, large: (status) => status !== 0 },
  },
  {
    title: 'megabytes of names in metadata, and of text to be counted',
    async attack(scene) {
      const metadata = JSON.stringify(Object.fromEntries(times(200_000, (index) => [`name-${index}`, 'a'])));
      const text = JSON.stringify('a '.repeat(2 * MB));
      const answers = [
        await scene.ask(withMember(`"metadata":${metadata}`, 'chat/m')),
        await scene.ask(`{"model":"chat/m","input":"a","metadata":${metadata}}`, { path: '/v1/responses' }),
        await scene.ask(
          `{"model":"sim/echo","max_tokens":9,"messages":[{"role":"user","content":${text}}]}`,
          {
            path: '/v1/messages/count_tokens',
          },
        ),
      ];
      return { statuses: statusesOf(answers) };
    },
    gets: { statuses: only(200, 400, 413) },
  },
  {
    title: 'schemas that take forever to compile or to match',
    async attack(scene) {
      const format = (schema: object): object => ({
        model: 'sim/text-only',
        messages: HELLO,
        response_format: { type: 'json_schema', json_schema: { name: 'a', schema, strict: false } },
      });
      const objects = Object.fromEntries(
        times(2900, (index) => [
          `p${index}`,
          { type: 'object', properties: { a: { type: 'string', minLength: index } } },
        ]),
      );
      const refs = Object.fromEntries(
        times(30, (index) => [
          `d${index}`,
          { anyOf: times(2, () => ({ $ref: `#/$defs/d${Math.min(29, index + 1)}` })) },
        ]),
      );
      const pattern = { type: 'object', properties: { a: { type: 'string', pattern: '^(((a+)+)+)+$' } } };
      const answers = await askAll(scene, [
        format({ type: 'object', properties: objects }),
        format({ type: 'object', properties: objects, required: Object.keys(objects) }),
        format({ $defs: refs, $ref: '#/$defs/d0' }),
        format(pattern),
        format({ type: 'array', items: { enum: times(50_000, (index) => index) }, uniqueItems: true }),
      ]);
      return { statuses: statusesOf(answers) };
    },
    gets: { statuses: only(200, 400, 502) },
  },
  {
    title: 'grammars that take forever to match',
    async attack(scene) {
      const tool = (syntax: string, definition: string): object => ({
        model: 'sim/chat',
        messages: [{ role: 'user', content: `call t {"input":"${'a'.repeat(2000)}b"}` }],
        tools: [
          {
            type: 'custom',
            custom: { name: 't', format: { type: 'grammar', grammar: { syntax, definition } } },
          },
        ],
      });
      const rules = times(
        400,
        (index) => `r${index}: r${(index * 7 + 1) % 400} r${(index * 3 + 2) % 400} | "a"`,
      ).join('\n');
      const answers = await askAll(scene, [
        tool('regex', '^(a|a)*(a|a)*(a*)*$'),
        tool('regex', `${'('.repeat(2000)}a${')*'.repeat(2000)}`),
        tool('regex', '(a{1,1000}){1,1000}'),
        tool('lark', `start: r0\n${rules}`),
        tool('lark', 'start: start start | "a" | '),
        tool('lark', `start: ${'("a" | '.repeat(3000)}"b"${')'.repeat(3000)}`),
      ]);
      return { statuses: statusesOf(answers) };
    },
    gets: { statuses: only(200, 400, 502) },
  },
  {
    title: 'files of 100,000 parts, and endless parts',
    async attack(scene) {
      const parts = { path: '/v1/files', headers: ['content-type: multipart/form-data; boundary=b'] };
      const part = '--b\r\ncontent-disposition: form-data; name="a"\r\n\r\n1\r\n';
      const answers = [
        await scene.ask(`${part.repeat(100_000)}--b--\r\n`, parts),
        await scene.ask('--b\r\n'.repeat(1_000_000), parts),
        await scene.ask(`--b\r\n${'x-a: b\r\n'.repeat(500_000)}\r\n\r\n--b--\r\n`, parts),
        await scene.ask('-'.repeat(10 * MB), parts),
      ];
      return { statuses: statusesOf(answers) };
    },
    gets: { statuses: only(400, 413) },
  },
  {
    title: 'pictures and files that are decompression bombs',
    async attack(scene) {
      scene.server.answering = (_, reply) => void reply.whole({ error: { message: 'no' } }, 400);
      const zeros = Bun.gzipSync(new Uint8Array(64 * MB));
      const deflated = Bun.deflateSync(new Uint8Array(200 * MB));
      const zlib = Buffer.concat([Buffer.from([0x78, 0x9c]), deflated, Buffer.from([0, 0, 0, 1])]);
      const pdf = Buffer.concat([
        Buffer.from(
          `%PDF-1.7\n1 0 obj<</Type/Catalog/Pages 2 0 R>>endobj\n2 0 obj<</Type/Pages/Kids[3 0 R]/Count 1>>endobj\n3 0 obj<</Type/Page/Parent 2 0 R/Contents 4 0 R/MediaBox[0 0 9 9]>>endobj\n4 0 obj<</Length ${zlib.length}/Filter/FlateDecode>>stream\n`,
        ),
        zlib,
        Buffer.from('\nendstream endobj\ntrailer<</Root 1 0 R>>\n%%EOF'),
      ]);
      const file = (bytes: Uint8Array, type: string): object => ({
        model: 'chat/m',
        messages: [
          {
            role: 'user',
            content: [
              {
                type: 'file',
                file: {
                  filename: 'a.pdf',
                  file_data: `data:${type};base64,${Buffer.from(bytes).toString('base64')}`,
                },
              },
            ],
          },
        ],
      });
      const picture = {
        model: 'chat/m',
        messages: [
          {
            role: 'user',
            content: [
              { type: 'image_url', image_url: { url: `data:image/png;base64,${'A'.repeat(20 * MB)}` } },
            ],
          },
        ],
      };
      const answers = [
        await scene.ask(file(pdf, 'application/pdf')),
        await scene.ask(file(zeros, 'application/pdf')),
        await scene.ask(picture),
      ];
      return { statuses: statusesOf(answers) };
    },
    gets: { statuses: only(400, 413, 422) },
  },
];
