// Turns the candidates of Gemini's answers into canonical events, whether they come whole or in pieces. Owns item
// and part numbering and the place of signatures. Knows nothing of frames or of HTTP.
import {
  asArray,
  asObject,
  asString,
  isJsonObject,
  type JsonObject,
  type JsonValue,
  type MutableJsonObject,
} from '../../../base/json/index.ts';
import {
  type EventSink,
  GatewayError,
  type OpaqueReasoning,
  type OpenItem,
  type Source,
} from '../../../canonical/index.ts';
import { CallIds, callName } from '../../call-ids.ts';
import { ItemWriter } from '../../item-writer.ts';
import type { CodecContext } from '../../protocol.ts';
import { AnswerRest } from './answer-rest.ts';
import {
  countSearches,
  decodeGrounding,
  mergeGrounding,
  readWork,
  unreportedWithoutText,
} from './decode-grounding.ts';
import { decodeLogprobs } from './decode-logprobs.ts';
import { decodeUsage } from './decode-usage.ts';
import { decodeFinishReason } from './finish-reason.ts';
import { HOSTED_PARTS, readPicture } from '../hosted-parts.ts';
import { PartialArgs } from './partial-args.ts';
import { GEMINI_REASONING } from '../thought-signature.ts';

/** Members of a `functionCall` part that the canonical items hold; a part with others keeps its raw form. */
const CALL_PART: ReadonlySet<string> = new Set(['functionCall', 'thoughtSignature']);
const NONE = -1;

/** A call whose arguments come in pieces. */
interface OpenCall {
  readonly index: number;
  readonly args: PartialArgs;
}

export class AnswerEmitter {
  readonly #out: ItemWriter;
  readonly #ids: CallIds;
  #calls = 0;
  #started = false;
  /** Index of the open item of each kind; NONE when there is none. */
  #message = NONE;
  #thought = NONE;
  #call: OpenCall | undefined;
  /** The last message's text: citations are placed in it. */
  #text = '';
  /** A signature on a part without content: it is shown when it is known that no content follows. */
  #lateSignature: string | undefined;
  #grounding: MutableJsonObject | undefined;
  /** How many of the searches and pages of the grounding were shown. */
  #work = 0;
  readonly #rest = new AnswerRest();
  #usage: JsonObject | undefined;
  #finishReason: string | undefined;
  #finishMessage: string | undefined;
  /** Google refused the prompt itself: there is no candidate, and the reason is no finish reason. */
  #isBlocked = false;

  constructor(sink: EventSink, context: CodecContext) {
    this.#out = new ItemWriter(sink);
    this.#ids = new CallIds(context, 'call_');
  }

  /** True once the upstream said why the model stopped. */
  get stopped(): boolean {
    return this.#finishReason !== undefined;
  }

  /**
   * Takes one `GenerateContentResponse`: a whole answer or a piece of one. A blocked prompt is an answer of Google's
   * (status 200): one that the filter ended before it began, as other gateways tell it too (vercel/ai #19758,
   * BerriAI/litellm #20105).
   */
  take(response: JsonObject): void {
    if (!this.#started) {
      this.#started = true;
      const { responseId, modelVersion } = response;
      this.#out.on({ type: 'start', id: asString(responseId), model: asString(modelVersion) });
    }
    // The counts are cumulative, and the last object has them all.
    const usage = response['usageMetadata'];
    if (isJsonObject(usage)) this.#usage = usage;
    const feedback = asObject(response['promptFeedback']);
    // Only one candidate is ever asked for.
    const candidate = asArray(response['candidates'])[0];
    this.#rest.take(response, asObject(candidate));
    if (isJsonObject(candidate)) this.#candidate(candidate);
    else if (asString(feedback['blockReason'])) this.#block(feedback);
  }

  /** Closes whatever is open and emits usage and finish; an error where the model's own fault broke the answer off. */
  finish(): void {
    this.#closeCall();
    const unreported = this.#grounding === undefined ? [] : this.#annotate(this.#grounding);
    this.#closeMessage();
    this.#emitWork();
    this.#showLateSignature();
    this.#closeThought();
    const raw = this.#finishReason;
    const reason = this.#isBlocked ? 'content_filter' : decodeFinishReason(raw ?? '', this.#calls > 0);
    this.flushUsage();
    this.#out.on(
      reason === 'failure'
        ? { type: 'error', error: brokenAnswer(raw ?? '', this.#finishMessage) }
        : {
            type: 'finish',
            reason,
            raw,
            ...(this.#isBlocked ? { refusalCategory: raw } : {}),
            source: this.#rest.source,
            ...(unreported.length > 0 ? { unreported } : {}),
          },
    );
  }

  /** Google's words about a blocked prompt, if there are any, are the refusal. */
  #block(feedback: JsonObject): void {
    this.#isBlocked = true;
    this.#finishReason = asString(feedback['blockReason']);
    const text = asString(feedback['blockReasonMessage']);
    if (!text) return;
    const index = this.#open({ type: 'message' });
    this.#out.text(index, 0, text, 'refusal');
    this.#out.close(index);
  }

  /** Emits the token counts, if there are any. */
  flushUsage(): void {
    if (this.#usage === undefined) return;
    this.#out.on({ type: 'usage', usage: decodeUsage(this.#usage, countSearches(this.#grounding)) });
    this.#usage = undefined;
  }

  #candidate(candidate: JsonObject): void {
    this.#grounding = mergeGrounding(this.#grounding, candidate);
    // Numbers are the words of clients that ask for them, which the gateway does not.
    const { finishReason, finishMessage, logprobsResult: logprobs } = candidate;
    if (typeof finishReason === 'string') this.#finishReason = finishReason;
    if (typeof finishMessage === 'string') this.#finishMessage = finishMessage;
    let tokens = logprobs === undefined ? undefined : decodeLogprobs(logprobs);
    for (const part of asArray(asObject(candidate['content'])['parts'])) {
      if (!isJsonObject(part)) continue;
      this.#part(part, tokens);
      if (part['text'] && part['thought'] !== true) tokens = undefined;
    }
    // Some objects tell of tokens whose text came before.
    if (tokens !== undefined && this.#message !== NONE) this.#out.text(this.#message, 0, '', 'text', tokens);
  }

  #part(part: JsonObject, logprobs: readonly JsonValue[] | undefined): void {
    const text = part['text'];
    const signature = asString(part['thoughtSignature']);
    if (typeof text === 'string') {
      if (part['thought'] === true) this.#onThought(text, signature);
      else this.#onText(text, signature, logprobs);
      return;
    }
    const call = part['functionCall'];
    if (call !== undefined && call !== null) {
      this.#onCall(asObject(call), signature, part);
      return;
    }
    const source: Source = { protocol: 'gemini', raw: part };
    const facts = readPicture(part);
    if (facts) return this.#whole({ type: 'hosted_call', kind: 'inlineData', facts, source });
    const kind = HOSTED_PARTS.find((name) => isJsonObject(part[name]));
    // Such a part keeps its signature inside: without the part it would mean nothing.
    if (kind !== undefined) {
      const id = asString(asObject(part[kind])['id']);
      this.#whole({ type: 'hosted_call', kind, id, source });
    } else this.#whole({ type: 'unknown', source });
  }

  #onThought(text: string, signature: string | undefined): void {
    if (this.#thought === NONE) {
      if (text === '' && signature === undefined) return;
      this.#thought = this.#open({ type: 'reasoning', format: GEMINI_REASONING });
    }
    const index = this.#thought;
    if (text !== '') this.#out.reasoning(index, text, 'summary');
    if (signature === undefined) return;
    this.#out.opaque(index, { format: GEMINI_REASONING, kind: 'signature', data: signature });
    this.#closeThought();
  }

  #onText(text: string, signature: string | undefined, logprobs: readonly JsonValue[] | undefined): void {
    if (text === '') {
      if (signature === undefined) return;
      this.#showLateSignature();
      this.#lateSignature = signature;
      return;
    }
    if (signature !== undefined || this.#lateSignature !== undefined) this.#sign(signature);
    if (this.#message === NONE) {
      this.#message = this.#open({ type: 'message' });
      this.#text = '';
    }
    this.#text += text;
    this.#out.text(this.#message, 0, text, 'text', logprobs);
  }

  #onCall(call: JsonObject, signature: string | undefined, part: JsonObject): void {
    if (this.#call === undefined || asString(call['name']) !== undefined) {
      const name = callName(call['name']);
      this.#closeCall();
      this.#sign(signature, 'call');
      this.#calls++;
      const callId = this.#ids.take(call['id']);
      const index = this.#open({ type: 'tool_call', kind: 'function', callId, name });
      if (call['willContinue'] !== true && call['partialArgs'] === undefined) {
        this.#out.arguments(index, JSON.stringify(asObject(call['args'])));
        this.#out.close(index, callSource(part));
        return;
      }
      this.#call = { index, args: new PartialArgs() };
    }
    this.#call.args.add(call['partialArgs']);
    if (call['willContinue'] !== true) this.#closeCall();
  }

  /** An item that is complete as it opens. */
  #whole(item: OpenItem & { readonly source: Source }): void {
    this.#sign(undefined);
    const index = this.#open(item);
    const facts = 'facts' in item ? item.facts : undefined;
    this.#out.close(index, item.source, facts);
  }

  /** A signature stands before the item that carries it: nothing else would tell which one that is. */
  #sign(signature: string | undefined, standsOn?: OpaqueReasoning['standsOn']): void {
    this.#showLateSignature();
    if (signature !== undefined) this.#showSignature(signature, undefined, standsOn);
  }

  #showLateSignature(): void {
    const signature = this.#lateSignature;
    if (signature === undefined) return;
    this.#lateSignature = undefined;
    this.#showSignature(signature, { protocol: 'gemini', raw: { text: '' } });
  }

  /**
   * A signature belongs to the thought that led to its part, if one was shown.
   * @param source the part, where it has nothing but the signature
   */
  #showSignature(data: string, source: Source | undefined, standsOn?: OpaqueReasoning['standsOn']): void {
    const opaque: OpaqueReasoning = {
      format: GEMINI_REASONING,
      kind: 'encrypted',
      data,
      ...(standsOn && { standsOn }),
    };
    if (this.#thought !== NONE) {
      this.#out.opaque(this.#thought, opaque);
      this.#closeThought();
      return;
    }
    const index = this.#open({ type: 'reasoning', format: GEMINI_REASONING });
    this.#out.opaque(index, opaque);
    this.#out.close(index, source);
  }

  /** @returns members that no citation says, because there is no text to cite for; they go with the end */
  #annotate(grounding: JsonObject): readonly string[] {
    const index = this.#message;
    if (index === NONE) {
      this.#rest.add(grounding);
      return unreportedWithoutText(grounding);
    }
    for (const annotation of decodeGrounding(grounding, this.#text)) this.#out.annotate(index, 0, annotation);
    return [];
  }

  /** Work stands before the words of an answer that comes whole; streams tell of it at their end. */
  #emitWork(): void {
    const raw = this.#grounding;
    if (raw === undefined) return;
    const source: Source = { protocol: 'gemini', raw };
    const fresh = readWork(raw).slice(this.#work);
    this.#work += fresh.length;
    for (const { kind, facts } of fresh)
      this.#out.whole({ type: 'hosted_call', kind, facts, source }, source, facts);
  }

  /** Opens an item and closes what came before it. */
  #open(item: OpenItem): number {
    this.#closeThought();
    this.#closeCall();
    this.#closeMessage();
    if (item.type === 'message' && this.stopped) this.#emitWork();
    return this.#out.open(item);
  }

  #closeThought(): void {
    if (this.#thought === NONE) return;
    this.#out.close(this.#thought);
    this.#thought = NONE;
  }

  #closeMessage(): void {
    if (this.#message === NONE) return;
    this.#out.close(this.#message);
    this.#message = NONE;
  }

  #closeCall(): void {
    const call = this.#call;
    if (call === undefined) return;
    this.#call = undefined;
    this.#out.arguments(call.index, JSON.stringify(call.args.value));
    this.#out.close(call.index);
  }
}

/** The raw form of a part that has more members than the canonical items can hold. */
function callSource(part: JsonObject): Source | undefined {
  for (const key in part) {
    if (CALL_PART.has(key)) continue;
    const { thoughtSignature: _signature, ...raw } = part;
    return { protocol: 'gemini', raw };
  }
  return undefined;
}

function brokenAnswer(reason: string, message: string | undefined): GatewayError {
  const words = message === undefined ? '' : `: ${message}`;
  return new GatewayError('upstream_unavailable', `the model broke its answer off (${reason})${words}`, {
    code: reason.toLowerCase(),
  });
}
