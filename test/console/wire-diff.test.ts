// What client and upstream said, side by side in a browser, for each pair of protocols: every row says what it is about.
import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import type { TestGateway } from '../harness.ts';
import { ADMIN_KEY } from '../management/scene.ts';
import { CLIENTS, MODELS, PAIRS, PLACES, QUESTION, type Places } from '../management/wire-pairs.ts';
import { isWhole } from '../share.ts';
import { startEveryUpstream } from '../upstreams/every-upstream.ts';
import { HAS_BROWSER, type Looked, openWindows, SLOW, type Windows } from './scene.ts';

/** Each protocol once on each side, or all pairs. */
const SEEN = isWhole
  ? PAIRS
  : Object.keys(MODELS).map((upstream, at, all) => ({
      client: Object.keys(CLIENTS)[at % Object.keys(CLIENTS).length] ?? '',
      upstream: all[(at + 1) % all.length] ?? '',
    }));

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
  }, SLOW);
  afterAll(async () => {
    await windows?.close();
    await gateway?.close();
  });

  test.each(SEEN)(
    '$client stands beside $upstream, by meaning',
    async ({ client, upstream }) => {
      const { page, open, picture } = looked;
      const [path, body] = CLIENTS[client]?.ask(MODELS[upstream] ?? '') ?? ['', {}];
      const answer = await fetch(gateway.origin + path, {
        method: 'POST',
        headers: { 'x-api-key': gateway.key, 'anthropic-version': '2023-06-01' },
        body: JSON.stringify(body),
      });
      await answer.text();
      await open(`/requests/${answer.headers.get('x-request-id')}?view=diff`, MODELS[upstream] ?? '');
      const [one, other] = [PLACES[client], PLACES[upstream]] as [Places, Places];
      const requests = page.getByRole('table', { name: 'Request' });
      await requests.waitFor();
      await picture(`wire-diff-${client}-${upstream}`);
      const heads = (await requests.getByRole('columnheader').allTextContents()).join(' ');
      expect(heads).toContain(client);
      expect(heads).toContain(upstream);
      const rows = await requests
        .getByRole('row')
        .evaluateAll((all) => all.slice(1).map((row) => [...row.children].map((cell) => cell.textContent)));
      const question = rows.find(([, asked]) => asked === one.question + QUESTION);
      expect(question?.slice(0, 3)).toEqual(['user · text', one.question + QUESTION, 'same']);
      expect(question?.[3]).toStartWith(other.question.replace(/\[.*/, '['));
      expect(question?.[3]).toEndWith(QUESTION);
      const schema = rows.find(([, asked]) => asked?.startsWith(one.schema));
      expect(schema?.[2]).toBe('same');
      expect(schema?.[3]).toStartWith(other.schema);
      // No row leaves open what it is about, and none is empty.
      expect(rows.filter(([what, asked, , sent]) => !what || (asked === '–' && sent === '–'))).toEqual([]);
      const answers = page.getByRole('table', { name: 'Answer' });
      const told = answers.getByRole('row', { name: /^assistant · text/ });
      expect(await told.getByRole('cell').nth(1).textContent()).toBe('same');
      expect(await told.textContent()).toContain('42');
    },
    SLOW,
  );

  test('nothing of all this made the browser complain', () => {
    expect(looked.complaints).toEqual([]);
  });
});
