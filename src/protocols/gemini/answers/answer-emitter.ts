// Decodes the candidates of Gemini's answers into canonical events, whether whole or in chunks. Numbers items and
// parts, and finds the item of each signature.
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
import { CallIds, callName } from '../../calls/call-ids.ts';
import { ItemWriter } from '../../streams/item-writer.ts';
import type { CodecContext } from '../../protocol.ts';
import { AnswerRest } from '../../members/answer-rest.ts';
import { ANSWER_MEMBERS } from './answer-members.ts';
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

/** Members of a `functionCall` part that the canonical item holds. A part with others keeps its raw form. */
const CALL_PART: ReadonlySet<string> = new Set(['functionCall', 'thoughtSignature']);
const NONE = -1;

/** A call whose arguments arrive in pieces. */
interface OpenCall {
  readonly index: number;
  readonly args: PartialArgs;
}

export class AnswerEmitter {
  readonly #out: ItemWriter;
  readonly #ids: CallIds;
  #calls = 0;
  #started = false;
  /** Index of the open item of each kind; NONE if there is none. */
  #message = NONE;
  #thought = NONE;
  #call: OpenCall | undefined;
  /** Text of the last message, to which citations refer. */
  #text = '';
  /** Signature on an empty part. It is emitted once it is known that no content follows. */
  #lateSignature: string | undefined;
  #grounding: MutableJsonObject | undefined;
  /** True once the citations were emitted. */
  #isCited = false;
  /** Number of grounding searches and pages that were already emitted. */
  #work = 0;
  readonly #rest = new AnswerRest(ANSWER_MEMBERS);
  #usage: JsonObject | undefined;
  #finishReason: string | undefined;
  #finishMessage: string | undefined;
  /** True if Google blocked the prompt: then there is no candidate, and the reason is not a finish reason. */
  #isBlocked = false;

  constructor(sink: EventSink, context: CodecContext) {
    this.#out = new ItemWriter(sink);
    this.#ids = new CallIds(context, 'call_');
  }

  /** True once there is a finish reason. */
  get stopped(): boolean {
    return this.#finishReason !== undefined;
  }

  /**
   * Takes a `GenerateContentResponse`: a whole answer or a chunk. A blocked prompt (status 200) is an answer that the
   * filter ended before it began, as in other gateways (vercel/ai #19758, BerriAI/litellm #20105).
   */
  take(response: JsonObject): void {
    if (!this.#started) {
      this.#started = true;
      const { responseId, modelVersion } = response;
      this.#out.on({ type: 'start', id: asString(responseId), model: asString(modelVersion) });
    }
    // The counts are cumulative, and the last object has all of them.
    const usage = response['usageMetadata'];
    if (isJsonObject(usage)) this.#usage = usage;
    const feedback = asObject(response['promptFeedback']);
    // The gateway only requests one candidate.
    const candidate = asArray(response['candidates'])[0];
    this.#rest.take(response, asObject(candidate));
    if (isJsonObject(candidate)) this.#candidate(candidate);
    else if (asString(feedback['blockReason'])) this.#block(feedback);
  }

  /** Closes all open items and emits usage and finish, or an error if the model failed to complete its answer. */
  finish(): void {
    this.#closeCall();
    const unreported = this.#cite();
    this.#closeMessage();
    this.#emitWork();
    this.#showLateSignature();
    this.#closeThought();
    const raw = this.#finishReason;
    const reason = this.#isBlocked ? 'content_filter' : decodeFinishReason(raw ?? '', this.#calls > 0);
    this.flushUsage();
    // Clients of this protocol receive the vendor's own word for a new reason.
    if (reason === 'unknown' && raw !== undefined) this.#rest.keep({}, { finishReason: raw });
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

  /** Emits Google's message about a blocked prompt, if there is one, as a refusal. */
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
    // Numeric enumerations only occur if a client requests them, which the gateway does not.
    const { finishReason, finishMessage, logprobsResult: logprobs } = candidate;
    if (typeof finishReason === 'string') this.#finishReason = finishReason;
    if (typeof finishMessage === 'string') this.#finishMessage = finishMessage;
    let tokens = logprobs === undefined ? undefined : decodeLogprobs(logprobs);
    const parts = asArray(asObject(candidate['content'])['parts']).filter(isJsonObject);
    const lastText = parts.findLast(isText);
    for (const part of parts) {
      this.#part(part, tokens);
      if (!isText(part)) continue;
      tokens = undefined;
      // Parts behind the text end its message, which cannot be cited afterwards.
      if (part === lastText && part !== parts.at(-1) && this.stopped) this.#cite();
    }
    // Some objects contain log probabilities for earlier text.
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
    // Such a part contains its own signature, which has no meaning without it.
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

  /** Emits an item that is already complete. */
  #whole(item: OpenItem & { readonly source: Source }): void {
    this.#sign(undefined);
    const index = this.#open(item);
    const facts = 'facts' in item ? item.facts : undefined;
    this.#out.close(index, item.source, facts);
  }

  /** Emits a signature before the item that carries it, because their order is the only link. */
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
   * Emits a signature, on the thought before its part if one was shown.
   * @param source the part, if it contains only the signature
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

  /** Emits the citations once. @returns members that are lost because there is no text to cite; they are reported with the end */
  #cite(): readonly string[] {
    const grounding = this.#grounding;
    if (grounding === undefined || this.#isCited) return [];
    this.#isCited = true;
    const index = this.#message;
    if (index === NONE) {
      this.#rest.keep({}, grounding);
      return unreportedWithoutText(grounding);
    }
    for (const annotation of decodeGrounding(grounding, this.#text)) this.#out.annotate(index, 0, annotation);
    return [];
  }

  /** Emits hosted work. It comes before the text of a whole answer, but at the end of a stream, which reports it there. */
  #emitWork(): void {
    const raw = this.#grounding;
    if (raw === undefined) return;
    const source: Source = { protocol: 'gemini', raw };
    const fresh = readWork(raw).slice(this.#work);
    this.#work += fresh.length;
    for (const { kind, facts } of fresh)
      this.#out.whole({ type: 'hosted_call', kind, facts, source }, source, facts);
  }

  /** Opens an item and closes the ones before it. */
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

/** True for a part with text of the answer. */
function isText(part: JsonObject): boolean {
  return part['text'] !== undefined && part['text'] !== '' && part['thought'] !== true;
}

/** Returns the raw form of a part with more members than the canonical item holds. */
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
  return new GatewayError('upstream_unavailable', `the model stopped its response (${reason})${words}`, {
    code: reason.toLowerCase(),
  });
}
