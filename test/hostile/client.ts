// A hostile client with a key, or without: names, framing, addresses and ids that nobody sends by mistake. Its large
// bodies are in client-bodies.ts, what it does with connections in client-connections.ts.
import { NARROW_KEY, SECOND_KEY, type Scenario, type Scene, type Wanted } from './scene.ts';
import { ATTACKER_KEY, requestBytes, type Answer, type RequestParts } from './sockets.ts';

const MB = 1024 * 1024;
const HELLO = [{ role: 'user', content: 'Hello' }];

/** How often each status came. */
export function statusesOf(answers: readonly { readonly status: number }[]): Record<string, number> {
  const counts: Record<string, number> = {};
  for (const { status } of answers) counts[status] = (counts[status] ?? 0) + 1;
  return counts;
}

/** An answer in a line: the status and what the error says. */
export function reported(answer: Answer): string {
  const message = /"message":\s*"((?:[^"\\]|\\.)*)"/.exec(answer.text)?.[1];
  return `${answer.status} ${message ?? answer.text.slice(0, 300)}`;
}

/** The only statuses that came are among these. */
export function only(...statuses: readonly number[]): Wanted {
  return (counts) => Object.keys(counts as object).every((status) => statuses.includes(Number(status)));
}

/** Sends these at once, each on a connection of its own. */
export function askAll(
  scene: Scene,
  bodies: readonly (string | object)[],
  parts?: RequestParts,
): Promise<readonly Answer[]> {
  return Promise.all(bodies.map((body) => scene.ask(body, parts)));
}

/** As many as said, made one by one. */
export function times<T>(count: number, make: (index: number) => T): T[] {
  return Array.from({ length: count }, (_, index) => make(index));
}

/** Heads and framings of which two readers could think differently; behind each stands a second request. */
const SMUGGLING: Readonly<Record<string, readonly string[]>> = {
  'length and chunks': ['content-length: 4', 'transfer-encoding: chunked'],
  'chunks and length': ['transfer-encoding: chunked', 'content-length: 4'],
  'two lengths': ['content-length: 0', 'content-length: 44'],
  'a list of lengths': ['content-length: 0, 44'],
  'a signed length': ['content-length: +4'],
  'a negative length': ['content-length: -1'],
  'a length in hexadecimal': ['content-length: 0x4'],
  'an unknown coding': ['transfer-encoding: xchunked'],
  'chunks twice': ['transfer-encoding: chunked, chunked'],
  'chunks before another coding': ['transfer-encoding: chunked, identity'],
  'a space before the colon': ['transfer-encoding : chunked'],
  'a folded line': ['x-a: b', ' transfer-encoding: chunked'],
  'a bare line feed': ['x-a: b\ntransfer-encoding: chunked'],
  'a NUL in a value': ['x-a: b\0c'],
};

/** @returns for each framing what came: the status of the first answer, and whether a second one followed */
async function smuggle(scene: Scene): Promise<Record<string, string>> {
  const inner = requestBytes(null, { path: '/v1/models', headers: ['x-smuggled: yes'] });
  const entries = Object.entries(SMUGGLING).map(async ([name, lines]) => {
    const socket = scene.connect();
    const head = `POST /v1/chat/completions HTTP/1.1\r\nhost: gateway\r\nauthorization: Bearer ${ATTACKER_KEY}\r\n`;
    void socket.send(
      Buffer.concat([Buffer.from(`${head}${lines.join('\r\n')}\r\n\r\n0\r\n\r\n`, 'latin1'), inner]),
    );
    const answer = await socket.answer(1500);
    await socket.until(() => socket.isEnded, 50);
    socket.close();
    const second = socket.text.includes('"object":"list"') ? ' and the smuggled one was answered' : '';
    return [name, `${answer.status}${second}`] as const;
  });
  return Object.fromEntries(await Promise.all(entries));
}

/** Values that `Host` may not have. */
const HOSTS: readonly (readonly string[])[] = [
  [],
  ['host: a', 'host: b'],
  ['host: ['],
  ['host: [::1'],
  ['host: a b'],
  ['host: a/b'],
  ['host: a@b'],
  ['host: a:port'],
  ['host: <script>'],
];

async function sendHosts(scene: Scene): Promise<{ statuses: object; longest: number; types: string[] }> {
  const answers = await Promise.all(
    HOSTS.map(async (lines) => {
      const socket = scene.connect();
      const head = [
        'GET /v1/models?key=sk-test-in-the-query HTTP/1.1',
        ...lines,
        'connection: close',
        '',
        '',
      ];
      void socket.send(Buffer.from(head.join('\r\n'), 'latin1'));
      const answer = await socket.answer();
      socket.close();
      return answer;
    }),
  );
  return {
    statuses: statusesOf(answers),
    longest: Math.max(...answers.map(({ text }) => text.length)),
    types: [...new Set(answers.map(({ headers }) => headers['content-type'] ?? 'none'))],
  };
}

export const CLIENT: readonly Scenario[] = [
  {
    title: 'a duplicate member, once escaped, that names a model outside the rights of the key',
    async attack(scene) {
      let reached: unknown = null;
      scene.server.answering = ({ json }, reply) => {
        reached = json?.['model'];
        void reply.whole({ error: { message: 'reached' } }, 400);
      };
      const rest = `"messages":${JSON.stringify(HELLO)}`;
      const bodies = [
        `{"model":"relay/cheap","\\u006dodel":"relay/m",${rest}}`,
        `{"\\u006dodel":"relay/m","model":"relay/cheap",${rest}}`,
        `{"model":"relay/cheap","model":"relay/m",${rest}}`,
        `{"model":"relay/cheap","messages":[{"role":"user","content":"a","c\\u006fntent":"b"}]}`,
      ];
      const answers = await askAll(scene, bodies, { key: NARROW_KEY });
      return { statuses: statusesOf(answers), reached, said: reported(answers[0] as Answer) };
    },
    gets: { statuses: { 400: 4 }, reached: null, said: /model/ },
  },
  {
    title: 'missing, duplicate and invalid Host headers',
    attack: sendHosts,
    gets: {
      statuses: { 400: HOSTS.length },
      longest: (size) => Number(size) < 1000,
      types: (types) => !String(types).includes('html'),
    },
  },
  {
    title: 'smuggled requests',
    attack: smuggle,
    gets: Object.fromEntries(Object.keys(SMUGGLING).map((name) => [name, /^[045]\d*$/])),
  },
  {
    title: 'endless heads',
    async attack(scene) {
      const heads = [
        [`x-large: ${'a'.repeat(2 * MB)}`],
        times(20_000, (index) => `x-${index}: a`),
        times(5000, () => 'cookie: a'),
      ];
      const answers = await Promise.all(heads.map((headers) => scene.ask({ model: 'relay/m' }, { headers })));
      const path = await scene.ask(null, { path: `/v1/models?${'a'.repeat(MB)}` });
      return { statuses: statusesOf([...answers, path]) };
    },
    gets: { statuses: only(0, 400, 404, 413, 414, 431) },
  },
  {
    title: 'invalid addresses',
    async attack(scene) {
      const paths = [
        '/%',
        '/v1/%ff',
        '//v1/models',
        '/v1/../v1/models',
        '/v1/files/%2e%2e%2fsecret.key',
        '*',
        '/v1/responses/%00',
      ];
      const answers = await Promise.all(paths.map((path) => scene.ask(null, { path })));
      return {
        statuses: statusesOf(answers),
        types: [...new Set(answers.map(({ headers }) => headers['content-type']))],
      };
    },
    gets: { statuses: only(200, 400, 404, 405), types: (types) => !String(types).includes('html') },
  },
  {
    title: 'requests for files and responses of another key by their ids',
    async attack(scene) {
      const theirs = await scene.ask(
        { model: 'sim/echo', input: 'a secret' },
        { path: '/v1/responses', key: SECOND_KEY },
      );
      const id = /"id":\s*"(resp_\w+)"/.exec(theirs.text)?.[1] ?? '';
      const form = [
        '--b\r\ncontent-disposition: form-data; name="purpose"\r\n\r\nuser_data',
        '--b\r\ncontent-disposition: form-data; name="file"; filename="a.txt"\r\n\r\na secret\r\n--b--\r\n',
      ].join('\r\n');
      const uploaded = await scene.ask(form, {
        path: '/v1/files',
        key: SECOND_KEY,
        headers: ['content-type: multipart/form-data; boundary=b'],
      });
      const file = /"id":\s*"(file-?\w+)"/.exec(uploaded.text)?.[1] ?? '';
      const source = { type: 'file', file_id: file };
      let reached = 0;
      scene.server.answering = (_, reply) => {
        reached += 1;
        void reply.whole({}, 500);
      };
      const message = (content: object[]): object => ({
        model: 'messages/m',
        max_tokens: 9,
        messages: [{ role: 'user', content }],
      });
      const answers = [
        await scene.ask(null, { path: `/v1/responses/${id}` }),
        await scene.ask(
          { model: 'sim/echo', previous_response_id: id, input: 'go on' },
          { path: '/v1/responses' },
        ),
        await scene.ask(null, { path: `/v1/files/${file}` }),
        await scene.ask(null, { path: `/v1/files/${file}/content` }),
        await scene.ask(message([{ type: 'document', source }]), { path: '/v1/messages' }),
        await scene.ask(
          message([{ type: 'document', source: { type: 'file', file_id: 'file_011CNha8iCJcU1wXNR6q4V8w' } }]),
          {
            path: '/v1/messages',
          },
        ),
        await scene.ask(
          {
            contents: [
              {
                role: 'user',
                parts: [
                  {
                    fileData: {
                      mimeType: 'text/plain',
                      fileUri: 'https://generativelanguage.googleapis.com/v1beta/files/abc',
                    },
                  },
                ],
              },
            ],
          },
          { path: '/v1beta/models/gemini/m:generateContent' },
        ),
      ];
      return { made: [theirs.status, uploaded.status], seen: answers.map(({ status }) => status), reached };
    },
    gets: { made: [200, 200], seen: [404, 400, 404, 404, 404, 404, 404], reached: 0 },
  },
  {
    title: 'a thousand names of models and as many idempotency keys',
    async attack(scene) {
      const lanes = await Promise.all(
        times(20, async (lane) => {
          const socket = scene.connect();
          const requests = times(100, (index) =>
            requestBytes(
              { model: index % 2 === 0 ? `no-${lane}-${index}/such` : 'sim/echo', messages: HELLO },
              index % 2 === 0 ? {} : { headers: [`idempotency-key: ${lane}-${index}`] },
            ),
          );
          let answered = 0;
          for (const bytes of requests) {
            const before = socket.received;
            void socket.send(bytes);
            if (!(await socket.until(() => socket.received > before && isBetween(socket.tail)))) break;
            answered++;
          }
          socket.close();
          return answered;
        }),
      );
      return { answered: lanes.reduce((sum, each) => sum + each, 0) };
    },
    gets: { answered: 2000 },
  },
  {
    title: 'six hundred invalid keys from the address of other clients',
    attack: (scene) => guessKeys(scene, '/v1/models'),
    gets: { statuses: only(0, 401, 429), logged: false, right: 200 },
  },
  {
    title: 'six hundred keys without admin rights at the management API',
    attack: (scene) => guessKeys(scene, '/v1/management/keys'),
    gets: { statuses: only(0, 401, 429), logged: false, right: 200 },
  },
];

/** Keys that are none, from one address, and then a right one for models from the same. */
async function guessKeys(scene: Scene, path: string) {
  const answers: Answer[] = [];
  await Promise.all(
    times(30, async (lane) => {
      for (let index = 0; index < 20; index++) {
        const socket = scene.connect();
        void socket.send(requestBytes(null, { path, key: `sk-test-guess-${lane}-${index}` }));
        answers.push(await socket.answer(500));
        socket.close();
        if (answers.at(-1)?.status === 0) return;
      }
    }),
  );
  const right = await scene.ask(null, { path: '/v1/models' });
  return {
    statuses: statusesOf(answers),
    logged: scene.log().includes('sk-test-guess'),
    right: right.status,
  };
}

/** No answer is half here: the last bytes are those of a JSON body. */
function isBetween(tail: string): boolean {
  return tail.endsWith('}') || tail.endsWith('}\n') || tail.endsWith('\r\n0\r\n\r\n');
}
