// Encodes answers for the Gemini API, whole and streamed (API reference, `GenerateContentResponse`, and recorded
// streams of 2025 and 2026). A prompt that asks for a refusal is blocked, as by Google's filter.
import type { JsonObject, MutableJsonObject } from '../src/base/json/index.ts';
import { asNumber, asObject, parseJson } from '../src/base/json/index.ts';
import type { Answering, Frame } from './dialect.ts';
import { camel } from './gemini-json.ts';
import { signPart } from './gemini-seal.ts';
import { answerText } from './question.ts';
import type { SimAnswer, SimCall } from './question.ts';
import { dataFrame } from './sse.ts';
import { textPieces } from './tokens.ts';

const UTF8 = new TextEncoder();

/** A response that is not streamed. */
export function encodeGemini(answering: Answering): JsonObject {
  if (answering.answer.refusal) return blocked(answering);
  const { answer } = answering;
  const parts: MutableJsonObject[] = [];
  if (showsThoughts(answering)) parts.push({ text: answer.reasoning?.text ?? '', thought: true });
  const text = answerText(answer);
  if (text !== '' || answer.calls.length === 0) parts.push({ text });
  for (const [i, call] of answer.calls.entries()) parts.push(callPart(answering, call, i));
  // If nothing is called, the last text has the signature.
  const last = parts.at(-1);
  if (answer.calls.length === 0 && last !== undefined) Object.assign(last, signature(answering, last));
  const chunk = response(answering, parts, {
    finishReason: finishReason(answer),
    ...grounding(answer),
    ...logprobs(answering, textPieces(text)),
  });
  return { ...chunk, usageMetadata: usage(answering) };
}

/** Chunks of a stream. There is no terminal marker: the last chunk has the finish reason and usage. */
export function encodeGeminiFrames(answering: Answering): Frame[] {
  const { answer } = answering;
  if (answer.refusal) return [{ phase: 'done', chars: 0, text: dataFrame(blocked(answering)) }];
  const frames: Frame[] = [];
  const { promptTokenCount } = usage(answering);
  const push = (
    part: JsonObject,
    chars: number,
    members: JsonObject = {},
    phase: Frame['phase'] = 'content',
  ): void => {
    const chunk = {
      ...response(answering, [part], members),
      usageMetadata: { promptTokenCount, totalTokenCount: promptTokenCount },
    };
    frames.push({ phase, chars, text: dataFrame(chunk) });
  };
  // Real streams begin with an empty text.
  push({ text: '' }, 0, {}, 'head');
  if (showsThoughts(answering))
    for (const piece of textPieces(answer.reasoning?.text ?? '')) push({ text: piece, thought: true }, 0);
  for (const piece of textPieces(answerText(answer), answering.cutAt))
    push({ text: piece }, piece.length, logprobs(answering, [piece]));
  answer.calls.forEach((call, i) => push(callPart(answering, call, i), call.arguments.length));
  const end = { text: '' };
  const isSigned = answer.calls.length === 0;
  const last = response(answering, [{ ...end, ...(isSigned ? signature(answering, end) : {}) }], {
    finishReason: finishReason(answer),
    ...grounding(answer),
  });
  frames.push({ phase: 'done', chars: 0, text: dataFrame({ ...last, usageMetadata: usage(answering) }) });
  return frames;
}

function response(answering: Answering, parts: readonly JsonObject[], members: JsonObject): JsonObject {
  return {
    candidates: [{ content: { parts, role: 'model' }, index: 0, ...members }],
    ...envelope(answering),
  };
}

function envelope({ question }: Answering): JsonObject {
  return { modelVersion: question.model, responseId: question.seed.slice(0, 22) };
}

function blocked(answering: Answering): JsonObject {
  const { promptTokenCount } = usage(answering);
  return {
    promptFeedback: {
      blockReason: 'PROHIBITED_CONTENT',
      blockReasonMessage: answerText(answering.answer),
    },
    usageMetadata: { promptTokenCount, totalTokenCount: promptTokenCount },
    ...envelope(answering),
  };
}

function configOf({ body }: Answering): JsonObject {
  return camel(camel(body)['generationConfig']);
}

function showsThoughts(answering: Answering): boolean {
  if (answering.answer.reasoning === null) return false;
  return camel(configOf(answering)['thinkingConfig'])['includeThoughts'] === true;
}

/** Models with thinking sign their answers, even if they did not think. */
function signature({ question, answer, traits }: Answering, part: JsonObject): JsonObject {
  if (traits.reasoning === 'none') return {};
  return { thoughtSignature: signPart(question.model, part, answer.reasoning?.text ?? '') };
}

/** Only the first of several calls has a signature. */
function callPart(answering: Answering, call: SimCall, i: number): MutableJsonObject {
  const id = `${answering.question.seed.slice(0, 8)}${String(i).padStart(2, '0')}`;
  const part = { functionCall: { id, name: call.name, args: asObject(parseJson(call.arguments)) } };
  return i === 0 ? { ...part, ...signature(answering, part) } : part;
}

function finishReason({ finish }: SimAnswer): string {
  switch (finish) {
    case 'length':
      return 'MAX_TOKENS';
    case 'content_filter':
    case 'refusal':
      return 'SAFETY';
    case 'stop_sequence':
    case 'tool_calls':
    case 'stop':
      return 'STOP';
  }
}

/** Search queries, and the pages that support each byte range of the text. */
function grounding({ search, segments }: SimAnswer): JsonObject {
  if (!search) return {};
  let at = 0;
  const supports: JsonObject[] = [];
  for (const { text, citation } of segments) {
    const startIndex = at;
    at += UTF8.encode(text).length;
    const index = search.results.findIndex(({ url }) => url === citation?.url);
    if (index >= 0)
      supports.push({ segment: { startIndex, endIndex: at, text }, groundingChunkIndices: [index] });
  }
  return {
    groundingMetadata: {
      webSearchQueries: [search.query],
      searchEntryPoint: { renderedContent: `<div>${search.results.length} results</div>` },
      groundingChunks: search.results.map(({ url, title }) => ({ web: { uri: url, title } })),
      groundingSupports: supports,
    },
  };
}

/** The chosen token is almost certain. Alternatives have decreasing probabilities. */
function logprobs(answering: Answering, pieces: readonly string[]): JsonObject {
  const { responseLogprobs, logprobs: count } = configOf(answering);
  if (responseLogprobs !== true || pieces.length === 0) return {};
  const entry = (token: string, logProbability: number): JsonObject => ({
    token,
    tokenId: token.length,
    logProbability,
  });
  const others = (token: string): JsonObject[] =>
    Array.from({ length: asNumber(count) ?? 0 }, (_, i) =>
      entry(i === 0 ? token : `${token}${i}`, -0.01 - i),
    );
  return {
    avgLogprobs: -0.01,
    logprobsResult: {
      chosenCandidates: pieces.map((piece) => entry(piece, -0.01)),
      topCandidates: pieces.map((piece) => ({ candidates: others(piece) })),
    },
  };
}

/** Cached tokens are part of the prompt count. Thoughts are counted separately from candidates. */
function usage({ question, answer }: Answering): MutableJsonObject & { readonly promptTokenCount: number } {
  const { inputTokens, cache } = question;
  return {
    promptTokenCount: inputTokens,
    ...(cache.read > 0 ? { cachedContentTokenCount: cache.read } : {}),
    candidatesTokenCount: answer.textTokens,
    ...(answer.reasoningTokens > 0 ? { thoughtsTokenCount: answer.reasoningTokens } : {}),
    totalTokenCount: inputTokens + answer.textTokens + answer.reasoningTokens,
    promptTokensDetails: [{ modality: 'TEXT', tokenCount: inputTokens }],
  };
}
