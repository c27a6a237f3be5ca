// Reverses `portable-request.ts` in an answer: calls of replacing functions become items of the client's tools, and
// grouped tools get their own names again.
import { isJsonObject, parseJson } from '../../../base/json/index.ts';
import type { JsonObject } from '../../../base/json/index.ts';
import type { CanonicalEvent, EventSink, OpenEvent, OpenItem, Source } from '../../../canonical/index.ts';
import type { ClientTool } from '../requests/client-tools.ts';
import type { ReplacedTool } from '../requests/portable-request.ts';

interface HeldCall {
  readonly open: OpenEvent;
  readonly item: Extract<OpenItem, { type: 'tool_call' }>;
  readonly tool: ClientTool;
  text: string;
}

/**
 * Sink in front of `next`. A call that becomes another item is held until it is complete, and later events are queued,
 * so that the order of items is kept.
 */
export class ToolRestorer implements EventSink {
  readonly #next: EventSink;
  readonly #replacedTools: ReadonlyMap<string, ReplacedTool>;
  #held: HeldCall | undefined;
  #waiting: CanonicalEvent[] = [];

  /** @param replacedTools of the portable request, by the names that the model sees */
  constructor(next: EventSink, replacedTools: ReadonlyMap<string, ReplacedTool>) {
    this.#next = next;
    this.#replacedTools = replacedTools;
  }

  on(event: CanonicalEvent): void {
    const held = this.#held;
    if (!held) return this.#pass(event);
    switch (event.type) {
      case 'arguments':
        if (event.index === held.open.index) held.text += event.text;
        else this.#waiting.push(event);
        return;
      case 'close':
        if (event.index === held.open.index) this.#release(held, event.source);
        else this.#waiting.push(event);
        return;
      case 'finish':
        this.#release(held, undefined);
        return this.on(event);
      case 'error':
        // The held call is incomplete and must not be run.
        this.#held = undefined;
        this.#waiting = [];
        return this.#next.on(event);
      default:
        this.#waiting.push(event);
    }
  }

  #pass(event: CanonicalEvent): void {
    if (event.type !== 'open' || event.item.type !== 'tool_call') return this.#next.on(event);
    const { item } = event;
    const replaced = this.#replacedTools.get(item.name);
    if (!replaced) return this.#next.on(event);
    if (replaced.type === 'client') {
      this.#held = { open: event, item, tool: replaced.tool, text: '' };
      return;
    }
    const { namespace, name } = replaced;
    this.#next.on({ ...event, item: { ...item, name, namespace } });
  }

  #release(held: HeldCall, source: Source | undefined): void {
    const { open, item, tool, text } = held;
    const { index } = open;
    const args = parseJson(text);
    const members = isJsonObject(args) ? tool.callOf(args) : undefined;
    if (members) {
      const call = (status: string): Source => ({
        protocol: 'openai-responses',
        raw: callItem(tool, item.callId, status, members),
      });
      const restored = { type: 'hosted_call', kind: tool.callType } as const;
      this.#next.on({ type: 'open', index, item: { ...restored, source: call('in_progress') } });
      this.#next.on({ type: 'close', index, source: call('completed') });
    } else {
      // A call with unusable arguments stays a function call, so that the model sees the client's refusal.
      this.#next.on(open);
      if (text !== '') this.#next.on({ type: 'arguments', index, text });
      this.#next.on({ type: 'close', index, source });
    }
    this.#held = undefined;
    const waiting = this.#waiting;
    this.#waiting = [];
    for (const event of waiting) this.on(event);
  }
}

function callItem(tool: ClientTool, callId: string, status: string, members: JsonObject): JsonObject {
  return { type: tool.callType, call_id: callId, status, ...members };
}
