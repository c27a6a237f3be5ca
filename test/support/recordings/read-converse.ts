// Reads recorded answers of Bedrock's Converse: what their bytes say, by the plainest means and without the product's
// own code.
import type { ConverseRecording } from './corpus.ts';
import { at, count, list, word } from './loose.ts';
import type { Loose } from './loose.ts';
import { endOf, emptySaid, saidCall } from './said.ts';
import type { Said } from './said.ts';

type Event = readonly [type: string, data: Loose];
type Block = Record<string, unknown>;

/** The events of a recorded stream, and the bytes where the recording has them. */
export function recordedStream({ res }: Pick<ConverseRecording, 'res'>): {
  bytes: Buffer | null;
  events: Event[];
} {
  if (res.values) {
    const events = res.values.flatMap((value) => Object.entries(value) as Event[]);
    return { bytes: null, events };
  }
  const bytes = Buffer.concat([res.base64 ?? []].flat().map((piece) => Buffer.from(piece, 'base64')));
  const events: Event[] = [];
  for (let from = 0; from < bytes.length; from += bytes.readUInt32BE(from)) {
    const headersEnd = from + 12 + bytes.readUInt32BE(from + 4);
    const headers = bytes.toString('latin1', from + 12, headersEnd);
    const type = /:event-type\x07..(\w+)/s.exec(headers)?.[1] ?? '';
    const payload = bytes.toString('utf8', headersEnd, from + bytes.readUInt32BE(from) - 4);
    events.push([type, JSON.parse(payload) as Loose]);
  }
  return { bytes, events };
}

/** Reads a recorded Converse answer. */
export function readConverse(recording: ConverseRecording): Said {
  const { res } = recording;
  if (res.kind === 'json') {
    const blocks = list(at(res.json, 'output', 'message', 'content')) as unknown as Block[];
    return readAnswer(blocks, word(at(res.json, 'stopReason')), at(res.json, 'usage'));
  }
  const blocks: Block[] = [];
  let stop = '';
  let usage: Loose | undefined;
  for (const [type, data] of recordedStream(recording).events) {
    const block = (blocks[count(data['contentBlockIndex'])] ??= {});
    if (type === 'contentBlockStart') Object.assign(block, at(data, 'start'));
    if (type === 'contentBlockDelta') extend(block, at(data, 'delta') ?? {});
    if (type === 'messageStop') stop = word(data['stopReason']);
    if (type === 'metadata') usage = data['usage'];
  }
  return readAnswer(blocks, stop, usage);
}

/** Lays a delta on a block: texts are joined, each under its own name. */
function extend(block: Block, delta: Loose): void {
  if (delta['text'] !== undefined) block['text'] = word(block['text']) + word(delta['text']);
  if (at(delta, 'toolUse')) block['json'] = word(block['json']) + word(at(delta, 'toolUse', 'input'));
  for (const name of ['text', 'signature', 'redactedContent'])
    if (at(delta, 'reasoningContent', name))
      block[`thought ${name}`] = word(block[`thought ${name}`]) + word(at(delta, 'reasoningContent', name));
}

function readAnswer(blocks: readonly Block[], stop: string, usage: Loose | undefined): Said {
  const said = emptySaid();
  if (stop === '') return said;
  const reasoning: string[] = [];
  for (const block of blocks.filter(Boolean) as unknown as readonly Loose[]) {
    const thought = at(block, 'reasoningContent');
    const text = word(at(thought, 'reasoningText', 'text')) || word(block['thought text']);
    if (text !== '') reasoning.push(text);
    const states = [
      at(thought, 'reasoningText', 'signature'),
      block['thought signature'],
      at(thought, 'redactedContent'),
      block['thought redactedContent'],
    ];
    said.opaque.push(...states.map(word).filter(Boolean));
    const cited = list(at(block, 'citationsContent', 'content')).map((each) => word(at(each, 'text')));
    said.text += word(block['text']) + cited.join('');
    const call = at(block, 'toolUse');
    const input = word(block['json']) || JSON.stringify(at(call, 'input') ?? {});
    if (call) said.calls.push(saidCall('function', word(at(call, 'name')), input));
  }
  said.reasoning = reasoning.join('\n\n');
  const filtered = stop === 'guardrail_intervened' || stop === 'content_filtered';
  const reason = stop === 'max_tokens' ? 'length' : filtered ? 'content_filter' : 'stop';
  said.end = endOf(reason, said.calls.length);
  if (!usage) return said;
  const cached = count(usage['cacheReadInputTokens']);
  const written = count(usage['cacheWriteInputTokens']);
  said.tokens = {
    prompt: count(usage['inputTokens']) + cached + written,
    cached,
    written,
    completion: count(usage['outputTokens']),
    reasoning: 0,
  };
  return said;
}
