// Events of an Anthropic stream ("Streaming messages", and recorded streams of 2025 and 2026): the message starts,
// each content block starts, is filled and stops, the message stops.
import type { JsonObject } from '../src/base/json/index.ts';
import { asArray, asNumber, asString } from '../src/base/json/index.ts';
import type { Answering, Frame } from './dialect.ts';
import type { SimAnswer } from './question.ts';
import { eventFrame } from './sse.ts';
import { textPieces } from './tokens.ts';

/**
 * Frames of an answer.
 * @param blocks complete content blocks
 * @param usage final usage
 */
export function encodeMessagesFrames(
  answering: Answering,
  blocks: readonly JsonObject[],
  usage: JsonObject,
  stopReason: string,
): Frame[] {
  const { answer, question } = answering;
  const frames: Frame[] = [];
  const push = (phase: Frame['phase'], type: string, more: JsonObject, chars = 0): void => {
    frames.push({ phase, chars, text: eventFrame(type, { type, ...more }) });
  };
  // A real stream does not know the final usage at its start: no hosted calls yet, and one output token.
  push('head', 'message_start', {
    message: {
      id: `msg_${question.seed.slice(0, 24)}`,
      type: 'message',
      role: 'assistant',
      model: question.model,
      content: [],
      stop_reason: null,
      stop_sequence: null,
      stop_details: null,
      container: null,
      diagnostics: null,
      usage: { ...usage, output_tokens: 1, output_tokens_details: null, server_tool_use: null },
    },
  });
  if (blocks.length === 0) push('head', 'ping', {});
  let text = 0;
  blocks.forEach((block, index) => {
    const delta = (value: JsonObject, chars = 0): void =>
      push('content', 'content_block_delta', { index, delta: value }, chars);
    // `content_block_start` of a streamed block has no content yet; that of a block sent whole has.
    const whole = block['type'] === 'redacted_thinking' || block['type'] === 'web_search_tool_result';
    push(index === 0 && !whole ? 'head' : 'content', 'content_block_start', {
      index,
      content_block: whole ? block : emptied(block),
    });
    if (index === 0) push(whole ? 'content' : 'head', 'ping', {});
    switch (block['type']) {
      case 'text': {
        const content = asString(block['text']) ?? '';
        for (const citation of asArray(block['citations'])) delta({ type: 'citations_delta', citation });
        for (const piece of textPieces(content, answering.cutAt - text))
          delta({ type: 'text_delta', text: piece }, piece.length);
        text += content.length;
        break;
      }
      case 'thinking':
        for (const piece of textPieces(asString(block['thinking']) ?? ''))
          delta({ type: 'thinking_delta', thinking: piece });
        delta({ type: 'signature_delta', signature: asString(block['signature']) ?? '' });
        break;
      case 'tool_use':
      case 'server_tool_use':
        delta({ type: 'input_json_delta', partial_json: '' });
        for (const piece of textPieces(JSON.stringify(block['input']))) {
          delta(
            { type: 'input_json_delta', partial_json: piece },
            block['type'] === 'tool_use' ? piece.length : 0,
          );
        }
        break;
      default:
        // Other blocks are sent whole.
        break;
    }
    push('content', 'content_block_stop', { index });
  });
  push('end', 'message_delta', {
    delta: {
      stop_reason: stopReason,
      stop_sequence: answer.stopSequence,
      stop_details: stopDetails(answer),
      container: null,
    },
    usage: finalUsage(usage),
  });
  push('done', 'message_stop', {});
  return frames;
}

/** A block as in `content_block_start`: the same members, but empty. */
function emptied(block: JsonObject): JsonObject {
  switch (block['type']) {
    case 'text':
      return { type: 'text', text: '', ...(block['citations'] !== undefined && { citations: [] }) };
    case 'thinking':
      return { type: 'thinking', thinking: '', signature: '' };
    default:
      return { ...block, input: {} };
  }
}

/** `stop_details` (SDK type `RefusalStopDetails`, 2026-11). Only set for refusals. */
export function stopDetails(answer: SimAnswer): JsonObject | null {
  return answer.finish === 'refusal' ? { type: 'refusal', category: null, explanation: null } : null;
}

/** Cumulative usage in `message_delta` (SDK type `MessageDeltaUsage`): without cache classes and service tier. */
function finalUsage(usage: JsonObject): JsonObject {
  const {
    cache_creation: _classes,
    service_tier: _tier,
    inference_geo: _geo,
    speed: _speed,
    ...counts
  } = usage;
  return { ...counts, output_tokens: asNumber(usage['output_tokens']) ?? 0 };
}
