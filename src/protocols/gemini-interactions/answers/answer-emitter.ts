// Decodes steps of an interaction, whole or in events, into canonical events. Other data keeps its raw form.
import {
  asArray,
  asNumber,
  asObject,
  asString,
  isJsonObject,
  type JsonObject,
} from '../../../base/json/index.ts';
import { type EventSink, GatewayError, type OpenItem } from '../../../canonical/index.ts';
import { ItemWriter } from '../../streams/item-writer.ts';
import type { CodecContext } from '../../protocol.ts';
import { decodeUsage } from './decode-usage.ts';
import { decodeStatus } from './interaction-status.ts';
import { decodeInlineError } from '../../google/decode-error.ts';
import { shortMessage } from '../../errors/upstream-error.ts';

const PROTOCOL = 'gemini-interactions';
/** Format of thought signatures, which only this API can read. */
export const INTERACTIONS_REASONING = 'google-interactions-v1';

export class AnswerEmitter {
  readonly #out: ItemWriter;
  readonly #context: CodecContext;
  /** Item indexes by the upstream's step numbers, which also count the client's input. */
  readonly #places = new Map<number, number>();
  #started = false;
  /** True once the answer has ended, successfully or not. */
  over = false;

  constructor(sink: EventSink, context: CodecContext) {
    this.#out = new ItemWriter(sink);
    this.#context = context;
  }

  /** Takes an event of a stream. */
  take(event: JsonObject): void {
    if (this.over) return;
    switch (event['event_type']) {
      case 'interaction.created':
        return this.#start(asObject(event['interaction']));
      case 'interaction.status_update':
        return this.#usage(event['usage']);
      case 'interaction.completed':
        this.#start(asObject(event['interaction']));
        return this.#finish(asObject(event['interaction']));
      case 'step.start':
        return this.#open(placeIn(event), asObject(event['step']));
      case 'step.delta':
        return this.#delta(this.#places.get(placeIn(event)), asObject(event['delta']));
      case 'step.stop':
        return this.#close(this.#places.get(placeIn(event)));
      case 'error':
        this.over = true;
        this.#out.on({ type: 'error', error: decodeFailure(asObject(event['error'])) });
        return;
      default:
        this.#other(event);
    }
  }

  /** Takes a whole interaction. */
  whole(interaction: JsonObject): void {
    this.#start(interaction);
    asArray(interaction['steps']).forEach((step, index) => {
      if (!isJsonObject(step)) return;
      this.#open(index, step);
      const place = this.#places.get(index);
      if (place === undefined) return;
      for (const text of asArray(step['summary'])) this.#say(place, 'summary', asObject(text));
      for (const part of asArray(step['content'])) this.#say(place, 'content', asObject(part));
      const { signature } = step;
      if (signature !== undefined) this.#delta(place, { type: 'thought_signature', signature });
      this.#close(place, step);
    });
    this.#finish(interaction);
  }

  #start(interaction: JsonObject): void {
    if (this.#started) return;
    this.#started = true;
    const model = asString(interaction['model']) ?? asString(interaction['agent']);
    this.#out.on({ type: 'start', id: asString(interaction['id']) || undefined, model });
  }

  #open(number: number, step: JsonObject): void {
    const type = asString(step['type']) ?? '';
    // Some answers begin with the client's input.
    if (type === 'user_input' || this.#places.has(number)) return;
    const item = this.#item(type, step);
    const index = this.#out.open(item);
    this.#places.set(number, index);
    if (item.type !== 'tool_call') return;
    const given = asObject(step['arguments']);
    if (Object.keys(given).length > 0) this.#out.arguments(index, JSON.stringify(given));
  }

  #item(type: string, step: JsonObject): OpenItem {
    if (type === 'model_output') return { type: 'message' };
    if (type === 'thought') return { type: 'reasoning' };
    if (type !== 'function_call') return { type: 'unknown', source: { protocol: PROTOCOL, raw: step } };
    const callId = asString(step['id']) ?? this.#context.newId('call_');
    return { type: 'tool_call', kind: 'function', callId, name: asString(step['name']) ?? '' };
  }

  #delta(index: number | undefined, delta: JsonObject): void {
    if (index === undefined) return;
    switch (delta['type']) {
      case 'text':
        return this.#say(index, 'content', delta);
      case 'thought_summary':
        return this.#say(index, 'summary', asObject(delta['content']));
      case 'thought_signature': {
        const data = asString(delta['signature']);
        if (!data) return;
        const opaque = { format: INTERACTIONS_REASONING, kind: 'signature', data } as const;
        return this.#out.opaque(index, opaque, 'summary');
      }
      case 'arguments_delta':
        return this.#out.arguments(index, asString(delta['arguments']) ?? '');
      default:
        this.#other({ event_type: 'step.delta', index, delta });
    }
  }

  /** Passes on an event without a canonical form. */
  #other(raw: JsonObject): void {
    this.#out.on({ type: 'unknown', source: { protocol: PROTOCOL, raw } });
  }

  #say(index: number, what: 'content' | 'summary', part: JsonObject): void {
    const text = asString(part['text']);
    if (text === undefined) return this.#other({ event_type: 'step.delta', index, delta: part });
    if (what === 'summary') this.#out.reasoning(index, text, 'summary');
    else this.#out.text(index, 0, text);
  }

  /** @param raw the whole step, if it arrived as one */
  #close(index: number | undefined, raw?: JsonObject): void {
    if (index !== undefined) this.#out.close(index, raw && { protocol: PROTOCOL, raw });
  }

  #usage(usage: unknown): void {
    if (isJsonObject(usage)) this.#out.on({ type: 'usage', usage: decodeUsage(usage) });
  }

  #finish(interaction: JsonObject): void {
    this.over = true;
    this.#usage(interaction['usage']);
    const raw = asString(interaction['status']);
    const status = decodeStatus(raw ?? '');
    if (status === 'failure') this.#out.on({ type: 'error', error: decodeFailed(interaction) });
    else this.#out.on({ type: 'finish', raw, reason: status === 'pending' ? 'pause' : status });
  }
}

function placeIn(event: JsonObject): number {
  return asNumber(event['index']) ?? 0;
}

// Failures reported by an interaction: an `error` event, or the status `failed`.

/**
 * Returns the error in an answer with status 200.
 * @param failure `{code, message}`; the code is a google.rpc.Code name in lower case, or a URL that ends in one
 */
function decodeFailure(failure: JsonObject): GatewayError {
  const status = asString(failure['code'])?.split('/').at(-1)?.toUpperCase() ?? 'UNKNOWN';
  const message = asString(failure['message']) ?? 'the interaction failed';
  const { kind, fault } = decodeInlineError({ error: { code: 500, status, message } }) ?? {};
  const upstream = { status: 200, body: shortMessage(JSON.stringify(failure)) };
  return new GatewayError(kind ?? 'upstream_unavailable', shortMessage(message), { fault, upstream });
}

/** Returns the error of an interaction with the status `failed`. */
function decodeFailed(interaction: JsonObject): GatewayError {
  return decodeFailure(asObject(asArray(interaction['errors'])[0]));
}
