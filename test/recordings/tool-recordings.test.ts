// Recorded answers of vendors that searched the web or called MCP servers themselves, through a gateway to a client of
// each protocol: every cited page is cited, and where the protocol can say it, what was searched and called is said.
import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { CLIENTS, type ClientName } from '../support/recordings/clients.ts';
import { missing } from '../support/recordings/corpus.ts';
import { NO_ANSWER } from '../support/recordings/exceptions.ts';
import { readAnswers, type RecordedAnswer } from '../support/recordings/recorded-answers.ts';
import { modelOf, ReplayGateway, type Reply } from '../support/recordings/replay-gateway.ts';

if (missing) console.log(`tool-recordings: ${missing}`);

const NAMES = Object.keys(CLIENTS) as ClientName[];

/** Everything that the upstream did itself, in the words of its protocol: what the text of an answer must hold. */
const DONE = {
  search: /"type":\s*"(?:web_search_call|web_search_tool_result)"/,
  mcp: /"type":\s*"(?:mcp_call|mcp_tool_use)"/,
} as const;

/** Pattern of the work as each client reads it. Chat Completions and Gemini have no place for calls, only for citations. */
const PUBLISHED: Readonly<Record<'responses' | 'messages', Readonly<Record<keyof typeof DONE, RegExp>>>> = {
  responses: { search: /"type":"web_search_call"/, mcp: /"type":"mcp_call"/ },
  messages: { search: /"type":"server_tool_use"/, mcp: /"type":"mcp_tool_use"/ },
};

/** Anthropic is let call servers for its own clients alone: for all others the gateway does. */
function isUnasked(name: ClientName, kind: keyof typeof DONE, { api }: RecordedAnswer): boolean {
  return name !== 'messages' && kind === 'mcp' && api === 'messages';
}

function textOf({ res }: RecordedAnswer): string {
  return 'text' in res && res.text !== undefined ? res.text : JSON.stringify(res.json ?? '');
}

describe.skipIf(missing !== undefined)('recorded work of hosted tools', () => {
  let answers: RecordedAnswer[] = [];
  let gateway: ReplayGateway;

  beforeAll(async () => {
    answers = readAnswers().filter(
      (answer) =>
        !(answer.case in NO_ANSWER) &&
        answer.said.end !== 'error' &&
        (answer.said.citations.length > 0 || Object.values(DONE).some((done) => done.test(textOf(answer)))),
    );
    gateway = await ReplayGateway.start(answers);
  });
  afterAll(() => gateway.close());

  const ask = (name: ClientName, answer: RecordedAnswer): Promise<Reply> => {
    const model = modelOf(answer.api, answer);
    const { path, body } = CLIENTS[name].request({
      model,
      stream: answer.stream,
      calls: answer.said.calls,
      more: [],
    });
    return gateway.post(path, body);
  };

  test('there are some of every kind', () => {
    const with_ = (kind: keyof typeof DONE): number =>
      answers.filter((answer) => DONE[kind].test(textOf(answer))).length;
    expect(answers.filter(({ said }) => said.citations.length > 0).length).toBeGreaterThan(25);
    expect(with_('search')).toBeGreaterThan(15);
    expect(with_('mcp')).toBeGreaterThan(5);
    expect(new Set(answers.map(({ api }) => api)).size).toBeGreaterThanOrEqual(4);
  });

  test.each(NAMES)('keeps every citation for %s clients', async (name) => {
    const lost: string[] = [];
    for (const answer of answers) {
      const { said } = CLIENTS[name].read(await ask(name, answer));
      // Documents and maps have no address.
      const want = new Set(answer.said.citations.filter((url) => url !== ''));
      const got = new Set(said.citations);
      for (const url of want) if (!got.has(url)) lost.push(`${answer.api} ${answer.case}: ${url}`);
    }
    expect(lost).toEqual([]);
  });

  test.each(['responses', 'messages'] as const)(
    'keeps the work of hosted tools for %s clients',
    async (name) => {
      const unreported: string[] = [];
      for (const answer of answers) {
        const kinds = (Object.keys(DONE) as (keyof typeof DONE)[]).filter((kind) =>
          DONE[kind].test(textOf(answer)),
        );
        if (kinds.length === 0) continue;
        const { text } = await ask(name, answer);
        for (const kind of kinds)
          if (!isUnasked(name, kind, answer) && !PUBLISHED[name][kind].test(text))
            unreported.push(`${answer.api} ${answer.case}: ${kind}`);
      }
      expect(unreported).toEqual([]);
    },
  );
});
