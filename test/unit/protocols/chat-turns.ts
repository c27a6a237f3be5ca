// Random assistant turns, the events they arrive as, and what a client sees of them: the material of properties
// that hold for every answer. Knows no protocol.
import fc from 'fast-check';
import { NO_USAGE } from '../../../src/canonical/index.ts';
import type { CanonicalEvent } from '../../../src/canonical/index.ts';

export interface Turn {
  readonly items: readonly TurnItem[];
  readonly reason: 'stop' | 'length' | 'tool_calls' | 'refusal' | 'pause';
}
type TurnItem =
  | {
      readonly type: 'message';
      readonly parts: readonly { readonly kind: 'text' | 'refusal'; readonly texts: readonly string[] }[];
    }
  | {
      readonly type: 'reasoning';
      readonly kind: 'text' | 'summary';
      readonly parts: readonly (readonly string[])[];
      readonly opaque: 'signature' | 'encrypted' | undefined;
    }
  | { readonly type: 'call'; readonly kind: 'function' | 'custom'; readonly texts: readonly string[] }
  | { readonly type: 'hosted' };

/** Random turns; `kinds` are those of their tool calls. */
export function turns(
  kinds: readonly ('function' | 'custom')[] = ['function', 'custom'],
): fc.Arbitrary<Turn> {
  const texts = fc.array(fc.string({ unit: 'grapheme', maxLength: 4 }), { maxLength: 3 });
  const item: fc.Arbitrary<TurnItem> = fc.oneof(
    fc.record({
      type: fc.constant('message' as const),
      parts: fc.array(
        fc.record({ kind: fc.constantFrom('text' as const, 'text' as const, 'refusal' as const), texts }),
        { maxLength: 3 },
      ),
    }),
    fc.record({
      type: fc.constant('reasoning' as const),
      kind: fc.constantFrom('text' as const, 'summary' as const),
      parts: fc.array(texts, { maxLength: 3 }),
      opaque: fc.constantFrom('signature' as const, 'encrypted' as const, undefined),
    }),
    fc.record({ type: fc.constant('call' as const), kind: fc.constantFrom(...kinds), texts }),
    fc.constant({ type: 'hosted' as const }),
  );
  const reason = fc.constantFrom(
    'stop' as const,
    'length' as const,
    'tool_calls' as const,
    'refusal' as const,
    'pause' as const,
  );
  return fc.record({ items: fc.array(item, { maxLength: 6 }), reason });
}

/** The events of a turn. Its calls are all opened where they stand, and their arguments come interleaved at the end. */
export function toEvents(turn: Turn): CanonicalEvent[] {
  const events: CanonicalEvent[] = [{ type: 'start', serviceTier: 'foreign' }];
  const pending: CanonicalEvent[][] = [];
  turn.items.forEach((item, index) => {
    switch (item.type) {
      case 'message':
        events.push({ type: 'open', index, item: { type: 'message' } });
        item.parts.forEach(({ kind, texts }, part) => {
          for (const text of texts) {
            const logprobs =
              kind === 'text' ? [{ token: text, logprob: -1, bytes: null, top_logprobs: [] }] : undefined;
            events.push({ type: 'text', index, part, kind, text, logprobs });
          }
          if (kind === 'refusal' || texts.length === 0) return;
          const annotation = {
            type: 'url_citation',
            url: 'https://a.example',
            title: 'A',
            start: 0,
            end: 1,
          } as const;
          events.push({ type: 'annotate', index, part, annotation });
        });
        return;
      case 'reasoning': {
        const { kind, opaque } = item;
        events.push({ type: 'open', index, item: { type: 'reasoning', id: `rs_${index}`, format: 'f' } });
        item.parts.forEach((texts, part) => {
          for (const text of texts) events.push({ type: 'reasoning', index, kind, part, text });
        });
        if (opaque) {
          const sealed = { format: 'f', kind: opaque, data: `data_${index}` };
          events.push({ type: 'reasoning', index, kind, part: 0, text: '', opaque: sealed });
        }
        return;
      }
      case 'call':
        events.push({
          type: 'open',
          index,
          item: { type: 'tool_call', kind: item.kind, callId: `call_${index}`, name: 'f' },
        });
        pending.push(item.texts.map((text) => ({ type: 'arguments', index, text })));
        return;
      case 'hosted': {
        const source = { protocol: 'anthropic-messages', raw: {} } as const;
        events.push({ type: 'open', index, item: { type: 'hosted_call', kind: 'server_tool_use', source } });
        return;
      }
    }
  });
  for (let round = 0; pending.some((list) => round < list.length); round++) {
    events.push(...pending.flatMap((list) => list.slice(round, round + 1)));
  }
  events.push({ type: 'usage', usage: { ...NO_USAGE, input: { ...NO_USAGE.input, uncached: 3 } } });
  events.push({ type: 'finish', reason: turn.reason });
  return events;
}

/** The turn as a client sees it: each reasoning item by what seals it, everything else as `other`. */
export function visibleOrder(turn: Turn): string[] {
  const order: string[] = [];
  let hasMessage = false;
  turn.items.forEach((item, index) => {
    if (item.type === 'call') order.push('other');
    else if (item.type === 'reasoning') {
      const isVisible = item.opaque !== undefined || item.parts.flat().some((text) => text !== '');
      if (isVisible) order.push(item.opaque ? `data_${index}` : 'open');
    } else if (item.type === 'message' && !hasMessage) {
      hasMessage = item.parts.some((part) => part.texts.some((text) => text !== ''));
      if (hasMessage) order.push('other');
    }
  });
  return order;
}
