// Differences between client and upstream in a browser, for each pair of protocols: only what differs is listed, by meaning.
import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import type { TestGateway } from '../support/harness.ts';
import { ADMIN_KEY } from '../support/management/scene.ts';
import { CLIENTS, MODELS, PAIRS, PLACES, QUESTION, type Places } from '../support/management/wire-pairs.ts';
import { isWhole } from '../support/share.ts';
import { startEveryUpstream } from '../support/upstreams/every-upstream.ts';
import { HAS_BROWSER, type Looked, openWindows, type Windows } from './scene.ts';

/** Each protocol once on each side, or all pairs. */
const SEEN = isWhole
  ? PAIRS
  : Object.keys(MODELS).map((upstream, at, all) => ({
      client: Object.keys(CLIENTS)[at % Object.keys(CLIENTS).length] ?? '',
      upstream: all[(at + 1) % all.length] ?? '',
    }));

interface Place {
  readonly path: string | null;
  readonly value: unknown;
}

interface Diff {
  readonly request: {
    readonly rows: readonly {
      readonly what: string;
      readonly state: string;
      readonly client: Place | null;
      readonly upstream: Place | null;
    }[];
  };
}

/** Asks the management API. */
async function askAdmin(origin: string, path: string): Promise<unknown> {
  const answer = await fetch(`${origin}/v1/management${path}`, {
    headers: { authorization: `Bearer ${ADMIN_KEY}` },
  });
  return answer.json();
}

describe.skipIf(!HAS_BROWSER)('in a browser', () => {
  let gateway: TestGateway;
  let windows: Windows;
  let looked: Looked;

  beforeAll(async () => {
    gateway = await startEveryUpstream({
      server: { admin_key: ADMIN_KEY },
      logging: { level: 'silent', content: 'all' },
    });
    windows = await openWindows(gateway.origin);
    looked = await windows.look('admin');
  });
  afterAll(async () => {
    await windows?.close();
    await gateway?.close();
  });

  test.each(SEEN)(
    'between $client and $upstream only differences are listed',
    async ({ client, upstream }) => {
      const { page, open, picture } = looked;
      const [path, body] = CLIENTS[client]?.ask(MODELS[upstream] ?? '') ?? ['', {}];
      const answer = await fetch(gateway.origin + path, {
        method: 'POST',
        headers: { 'x-api-key': gateway.key, 'anthropic-version': '2023-06-01' },
        body: JSON.stringify(body),
      });
      await answer.text();
      const id = answer.headers.get('x-request-id') ?? '';
      const [one, other] = [PLACES[client], PLACES[upstream]] as [Places, Places];
      // By meaning: what stayed the same has a place on either side.
      const diff = (await askAdmin(gateway.origin, `/generations/${id}/diff`)) as Diff;
      const question = diff.request.rows.find((row) => row.client?.value === QUESTION);
      expect(question).toMatchObject({ what: 'user · text', state: 'same', upstream: { value: QUESTION } });
      expect(question?.client?.path).toBe(one.question);
      expect(question?.upstream?.path).toStartWith(other.question.replace(/\[.*/, '['));
      await open(`/requests/${id}?view=changes`, MODELS[upstream] ?? '');
      await page.getByRole('heading', { name: 'Request', exact: true }).waitFor();
      await picture(`changes-${client}-${upstream}`);
      const rows = await page
        .getByRole('tabpanel')
        .getByRole('row')
        .evaluateAll((all) => all.map((row) => [...row.children].map((cell) => cell.textContent)));
      // Only what differs is listed, each with what it is about, and nothing as dropped that nobody sent.
      const words = rows.filter(([what]) => what !== 'What');
      expect(words.filter(([what]) => !/(?:added|changed|dropped)$/.test(what ?? ''))).toEqual([]);
      expect(words.filter(([what, asked]) => what?.endsWith('dropped') && asked === 'not there')).toEqual([]);
      expect(words.filter(([what]) => what?.startsWith('user · text'))).toEqual([]);
    },
  );

  test('the browser reports no error', () => {
    expect(looked.complaints).toEqual([]);
  });
});
