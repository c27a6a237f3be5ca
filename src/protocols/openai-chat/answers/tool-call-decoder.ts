// Assembles tool calls from deltas, and decides which deltas belong to one call. Servers repeat ids, omit them, number
// all calls 0, or do not number them.
import { CallIds, callName } from '../../calls/call-ids.ts';
import type { CodecContext } from '../../protocol.ts';
import {
  asString,
  isJsonObject,
  type JsonObject,
  type JsonValue,
  parseJson,
  unknownMembers,
} from '../../../base/json/index.ts';
import type { Source } from '../../../canonical/index.ts';
import type { ItemWriter } from '../../streams/item-writer.ts';
import { CALL_SHAPE } from '../member-shapes.ts';

interface Call {
  /** The item's index; −1 until it is opened. */
  item: number;
  readonly kind: 'function' | 'custom';
  /** Id from the server; '' if absent. */
  readonly id: string;
  name: string;
  arguments: string;
  extra: JsonObject | undefined;
}

/** Assembles the tool calls of one answer. All stay open until the end, because parallel calls can interleave. */
export class ToolCallDecoder {
  readonly #out: ItemWriter;
  readonly #calls: Call[] = [];
  readonly #byIndex = new Map<number, Call>();
  /** Last call with each id. */
  readonly #byId = new Map<string, Call>();
  readonly #ids: CallIds;
  #last: Call | undefined;
  /** Call whose name may be incomplete. It is opened with its first argument, or when anything else arrives. */
  #pending: Call | undefined;

  constructor(out: ItemWriter, context: CodecContext) {
    this.#out = out;
    this.#ids = new CallIds(context, 'call_');
  }

  /**
   * Takes one element of `tool_calls`.
   * @param whole true for an element of a complete message: each is a separate call
   */
  element(element: JsonObject, whole: boolean): void {
    // Snowflake sends an empty `custom` with its functions, so the type decides if present.
    const custom =
      element['type'] === 'custom' ||
      (element['type'] !== 'function' && element['custom'] !== undefined && element['custom'] !== null);
    const body = element[custom ? 'custom' : 'function'];
    const given = isJsonObject(body) ? body : element;
    const name = asString(given['name']) ?? '';
    const text = argumentText(custom ? given['input'] : given['arguments']);
    const id = asString(element['id']) ?? '';
    const index = typeof element['index'] === 'number' ? element['index'] : undefined;

    let call = whole ? undefined : this.#find(index, id, name, text);
    if (!call) {
      if (id === '' && name === '' && text === '') return;
      call = { item: -1, kind: custom ? 'custom' : 'function', id, name, arguments: '', extra: undefined };
      this.flush();
      this.#calls.push(call);
      if (id !== '') this.#byId.set(id, call);
      this.#pending = call;
      if (index !== undefined) this.#byIndex.set(index, call);
    } else if (call.item < 0 && name !== '') call.name = grownName(call.name, name);
    this.#last = call;
    const extra = unknownMembers(element, CALL_SHAPE.known);
    if (extra) call.extra = call.extra ? { ...call.extra, ...extra } : extra;
    if (text === '') return;
    if (call.item < 0) this.#open(call);
    call.arguments += text;
    this.#out.arguments(call.item, text);
  }

  /** Takes the deprecated `function_call` of a message or delta: one call without an id. */
  legacy(call: JsonObject): void {
    const name = asString(call['name']) ?? '';
    if (name === '' && argumentText(call['arguments']) === '') return;
    this.element({ index: -1, type: 'function', function: call }, false);
  }

  /** Opens the call whose name may be incomplete. */
  flush(): void {
    if (this.#pending) this.#open(this.#pending);
  }

  /** Completes every call. */
  close(): void {
    this.flush();
    for (const call of this.#calls) this.#out.close(call.item, sourceOf(call));
    this.#calls.length = 0;
  }

  /** Returns the call that a delta continues; undefined if it begins a new one. */
  #find(index: number | undefined, id: string, name: string, text: string): Call | undefined {
    const sameIndex = index === undefined ? undefined : this.#byIndex.get(index);
    if (id !== '') {
      if (sameIndex && (sameIndex.id === id || sameIndex.id === '')) return sameIndex;
      // A known index with another id: the server numbers all calls alike, so the id decides. A new index is a new
      // call, even with a known id.
      return sameIndex || index === undefined ? this.#byId.get(id) : undefined;
    }
    const call = sameIndex ?? (index === undefined ? this.#last : undefined);
    if (!call || name === '' || call.arguments === '') return call;
    // A name after arguments: servers may repeat it in every delta. A different name begins another call, and so do new
    // arguments after complete ones.
    if (name !== call.name) return undefined;
    return text !== '' && parseJson(call.arguments) !== undefined ? undefined : call;
  }

  #open(call: Call): void {
    if (this.#pending === call) this.#pending = undefined;
    const name = callName(call.name);
    const callId = this.#ids.take(call.id);
    call.item = this.#out.open({ type: 'tool_call', kind: call.kind, callId, name });
  }
}

/** Joins a name that arrives in pieces, repeated, or growing. */
function grownName(before: string, piece: string): string {
  return piece.startsWith(before) ? piece : before + piece;
}

/** Arguments are JSON text, but some servers send the object itself. */
function argumentText(value: JsonValue | undefined): string {
  if (typeof value === 'string') return value;
  return value === undefined || value === null ? '' : JSON.stringify(value);
}

/** Returns the raw form of a call with members that the canonical model does not have, e.g. Google's `extra_content`. */
function sourceOf(call: Call): Source | undefined {
  if (!call.extra) return undefined;
  const body =
    call.kind === 'custom'
      ? { custom: { name: call.name, input: call.arguments } }
      : { function: { name: call.name, arguments: call.arguments } };
  return { protocol: 'openai-chat', raw: { id: call.id, type: call.kind, ...body, ...call.extra } };
}
