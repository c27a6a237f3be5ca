// Ids for upstreams that take nine letters or digits only.
import { expect, test } from 'bun:test';
import fc from 'fast-check';
import type { Item } from '../../../../src/canonical/index.ts';
import { mapCallIds } from '../../../../src/protocols/openai-chat/requests/short-call-ids.ts';

const call = (callId: string): Item => ({
  type: 'tool_call',
  kind: 'function',
  callId,
  name: 'f',
  arguments: '{}',
});
const result = (callId: string): Item => ({ type: 'tool_result', kind: 'function', callId, parts: [] });

test('any id is kept if the upstream accepts any id', () => {
  expect(mapCallIds([call('toolu_bdrk_01L9')], 'any')('toolu_bdrk_01L9')).toBe('toolu_bdrk_01L9');
});

test('an id that fits is kept', () => {
  expect(mapCallIds([call('abcDEF123')], 'alphanumeric-9')('abcDEF123')).toBe('abcDEF123');
});

test('ids fit, are unique, and do not depend on later items of the conversation', () => {
  fc.assert(
    fc.property(fc.uniqueArray(fc.string({ minLength: 1, maxLength: 40 }), { maxLength: 50 }), (ids) => {
      const items = ids.flatMap((id) => [call(id), result(id)]);
      const map = mapCallIds(items, 'alphanumeric-9');
      const mapped = ids.map(map);
      for (const id of mapped) expect(id).toMatch(/^[A-Za-z0-9]{9}$/);
      expect(new Set(mapped).size).toBe(ids.length);
      const first = ids[0];
      if (first !== undefined) expect(mapCallIds([call(first)], 'alphanumeric-9')(first)).toBe(map(first));
    }),
  );
});
