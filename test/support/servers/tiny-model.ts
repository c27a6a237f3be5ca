// A language model of 5 MB for real servers in tests, as a GGUF file (ggml, docs/gguf.md, version 3, 2026-11). It reasons,
// obeys grammars, and its text depends on the whole prompt. One seed gives one file.
import { writeFileSync } from 'node:fs';

/** Width of the model, and number of its tokens: each token has a dimension of its own. */
const WIDTH = 512;
const HEADS = 8;
const HEAD_WIDTH = WIDTH / HEADS;
const FEED_FORWARD = 32;
/** Tokens that the model was "trained" with. */
export const TRAINED_CONTEXT = 8192;

const ANSWER_WORDS = ['river', 'stone', 'blue', 'seven', 'café', '東京', 'under', 'light', 'soft', 'green'];
const THOUGHTS = ['hmm', 'first', 'maybe', 'check', 'again', 'so', 'wait', 'then'];
const FILE = [
  '<|endoftext|>',
  '<|im_start|>',
  '<|im_end|>',
  '<think>',
  '</think>',
  '<tool_call>',
  '</tool_call>',
];
/** Types of tokens: docs/gguf.md, `tokenizer.ggml.token_type`. */
const NORMAL = 1;
const CONTROL = 3;
const USER_DEFINED = 4;
const UNUSED = 5;

/** The form of Qwen3's template, whose calls and thoughts `llama-server` reads by itself. */
const TEMPLATE = `{%- if tools %}
    {{- '<|im_start|>system\\n' }}
    {%- if messages[0].role == 'system' %}
        {{- messages[0].content + '\\n\\n' }}
    {%- endif %}
    {{- "# Tools\\n\\n<tools>" }}
    {%- for tool in tools %}
        {{- "\\n" }}
        {{- tool | tojson }}
    {%- endfor %}
    {{- "\\n</tools>\\n\\nFor each function call, return a json object within <tool_call></tool_call> XML tags:\\n<tool_call>\\n{\\"name\\": <function-name>, \\"arguments\\": <args-json-object>}\\n</tool_call><|im_end|>\\n" }}
{%- else %}
    {%- if messages[0].role == 'system' %}
        {{- '<|im_start|>system\\n' + messages[0].content + '<|im_end|>\\n' }}
    {%- endif %}
{%- endif %}
{%- for message in messages %}
    {%- if message.content is string %}
        {%- set content = message.content %}
    {%- else %}
        {%- set content = '' %}
    {%- endif %}
    {%- if (message.role == "user") or (message.role == "system" and not loop.first) %}
        {{- '<|im_start|>' + message.role + '\\n' + content + '<|im_end|>' + '\\n' }}
    {%- elif message.role == "assistant" %}
        {{- '<|im_start|>' + message.role + '\\n' }}
        {%- if message.reasoning_content is string %}
            {{- '<think>\\n' + message.reasoning_content + '\\n</think>\\n\\n' }}
        {%- endif %}
        {{- content }}
        {%- if message.tool_calls %}
            {%- for tool_call in message.tool_calls %}
                {%- if (loop.first and content) or (not loop.first) %}
                    {{- '\\n' }}
                {%- endif %}
                {%- if tool_call.function %}
                    {%- set tool_call = tool_call.function %}
                {%- endif %}
                {{- '<tool_call>\\n{"name": "' }}
                {{- tool_call.name }}
                {{- '", "arguments": ' }}
                {%- if tool_call.arguments is string %}
                    {{- tool_call.arguments }}
                {%- else %}
                    {{- tool_call.arguments | tojson }}
                {%- endif %}
                {{- '}\\n</tool_call>' }}
            {%- endfor %}
        {%- endif %}
        {{- '<|im_end|>\\n' }}
    {%- elif message.role == "tool" %}
        {{- '<|im_start|>user\\n<tool_response>\\n' + content + '\\n</tool_response><|im_end|>\\n' }}
    {%- endif %}
{%- endfor %}
{%- if add_generation_prompt %}
    {{- '<|im_start|>assistant\\n' }}
    {%- if enable_thinking is defined and enable_thinking is false %}
        {{- '<think>\\n\\n</think>\\n\\n' }}
    {%- endif %}
{%- endif %}`;

/**
 * Writes the model.
 * @param path of the file
 * @param seed of its weights
 */
export function writeTinyModel(path: string, seed = 1): void {
  const random = generator(seed);
  const vocabulary = makeVocabulary();
  const tensors = makeTensors(vocabulary, random);
  const out: Buffer[] = [];
  const values = metadata(vocabulary);
  out.push(Buffer.from('GGUF'), u32(3), u64(tensors.length), u64(values.length), ...values);
  let offset = 0;
  for (const { name, shape, data } of tensors) {
    out.push(text(name), u32(shape.length), ...shape.map(u64), u32(0), u64(offset));
    offset += data.byteLength;
  }
  const head = Buffer.concat(out);
  const bodies = tensors.map(({ data }) => Buffer.from(data.buffer, data.byteOffset, data.byteLength));
  writeFileSync(path, Buffer.concat([head, Buffer.alloc((32 - (head.length % 32)) % 32), ...bodies]));
}

interface Vocabulary {
  readonly tokens: readonly string[];
  readonly types: readonly number[];
  readonly merges: readonly string[];
  /** The id of a text that is one token. */
  id(text: string): number;
}

function makeVocabulary(): Vocabulary {
  const letters = byteLetters();
  const spell = (word: string | Buffer): string[] =>
    [...Buffer.from(word as string)].map((byte) => letters[byte] ?? '');
  const tokens = [...letters];
  const merges: string[] = [];
  const known = new Map(tokens.map((token, at) => [token, at]));
  const add = (token: string): void => {
    if (known.has(token)) return;
    known.set(token, tokens.length);
    tokens.push(token);
  };
  const words = [...ANSWER_WORDS, ...THOUGHTS].map((word) => spell(` ${word}`));
  // A character of four bytes in two tokens: streams are cut in the middle of characters.
  const halves = [spell(Buffer.from([0x20, 0xf0, 0x9f])), spell(Buffer.from([0x98, 0x80]))];
  for (const parts of [...words, ...halves, spell('\n\n')]) {
    let left = parts[0] ?? '';
    for (const right of parts.slice(1)) {
      const merge = `${left} ${right}`;
      if (!merges.includes(merge)) merges.push(merge);
      left += right;
      add(left);
    }
  }
  const types: number[] = tokens.map(() => NORMAL);
  for (const [at, special] of FILE.entries()) {
    add(special);
    types.push(at < 3 ? CONTROL : USER_DEFINED);
  }
  while (tokens.length < WIDTH) {
    tokens.push(`<unused${tokens.length}>`);
    types.push(UNUSED);
  }
  return {
    tokens,
    types,
    merges,
    id(part) {
      const found = known.get(part) ?? known.get(spell(part).join(''));
      if (found === undefined) throw new Error(`no token ${part}`);
      return found;
    },
  };
}

/** The letters by which byte-level vocabularies spell bytes (GPT-2, `bytes_to_unicode`). */
function byteLetters(): string[] {
  let next = 256;
  return Array.from({ length: 256 }, (_, byte) => {
    const isPrinted = (byte > 32 && byte < 127) || (byte > 160 && byte !== 173);
    return String.fromCodePoint(isPrinted ? byte : next++);
  });
}

interface Tensor {
  readonly name: string;
  /** The innermost dimension first. */
  readonly shape: readonly number[];
  readonly data: Float32Array;
}

/**
 * A token has one dimension, and the last matrix says what follows it. Attention gives all earlier tokens the same
 * weight, and adds a little of each.
 */
function makeTensors(vocabulary: Vocabulary, random: () => number): Tensor[] {
  const zeros = (name: string, ...shape: number[]): Tensor => ({
    name,
    shape,
    data: new Float32Array(shape.reduce((product, size) => product * size, 1)),
  });
  const filled = (tensor: Tensor, value: (at: number) => number): Tensor => {
    for (let at = 0; at < tensor.data.length; at++) tensor.data[at] = value(at);
    return tensor;
  };
  const ones = (name: string): Tensor => filled(zeros(name, WIDTH), () => 1);
  const follows = scores(vocabulary, random);
  const unit = Math.sqrt(WIDTH);
  return [
    filled(zeros('token_embd.weight', WIDTH, WIDTH), (at) => (at % WIDTH === Math.floor(at / WIDTH) ? 1 : 0)),
    ones('output_norm.weight'),
    filled(zeros('output.weight', WIDTH, WIDTH), (at) => follows(at % WIDTH, Math.floor(at / WIDTH)) / unit),
    ones('blk.0.attn_norm.weight'),
    zeros('blk.0.attn_q.weight', WIDTH, WIDTH),
    zeros('blk.0.attn_k.weight', WIDTH, HEAD_WIDTH),
    filled(zeros('blk.0.attn_v.weight', WIDTH, HEAD_WIDTH), () => (random() - 0.5) / unit),
    filled(zeros('blk.0.attn_output.weight', WIDTH, WIDTH), () => (random() - 0.5) * 0.04),
    ones('blk.0.ffn_norm.weight'),
    zeros('blk.0.ffn_gate.weight', WIDTH, FEED_FORWARD),
    zeros('blk.0.ffn_up.weight', WIDTH, FEED_FORWARD),
    zeros('blk.0.ffn_down.weight', FEED_FORWARD, WIDTH),
  ];
}

/** How much one token wants another behind it. */
function scores(vocabulary: Vocabulary, random: () => number): (from: number, to: number) => number {
  const { id } = vocabulary;
  const answers = new Set(ANSWER_WORDS.map((word) => id(` ${word}`)));
  const thoughts = new Set(THOUGHTS.map((word) => id(` ${word}`)));
  const letters = byteLetters();
  const upper = id(letters[0x20] + (letters[0xf0] ?? '') + (letters[0x9f] ?? ''));
  const lower = id((letters[0x98] ?? '') + (letters[0x80] ?? ''));
  answers.add(upper);
  // Later words follow earlier ones: without chance an answer would turn in a circle for ever.
  const ranks = new Map([
    ...[...answers].map((word, at, all) => [word, at / (all.length - 1)] as const),
    ...[...thoughts].map((word, at, all) => [word, at / (all.length - 1)] as const),
  ]);
  const rank = (token: number): number => ranks.get(token === lower ? upper : token) ?? 0;
  const wish = (from: number, to: number): number =>
    rank(to) > rank(from) ? 10 - 8 * (rank(to) - rank(from)) : 3;
  // Tokens with which strings, numbers and objects end, where a grammar allows nothing else.
  const structure = new Map(
    [
      ['"', 3],
      ['}', 3],
      [']', 3],
      [',', 1],
      [':', 2],
      ['7', 1],
      ['{', 1],
      ['[', 1],
    ].map(([letter, score]) => [id(String(letter)), Number(score)]),
  );
  const [end, think, thought] = [id('<|im_end|>'), id('<think>'), id('</think>')];
  const [line, lines] = [id('\n'), id('\n\n')];
  const [call, called, closing] = [id('<tool_call>'), id('</tool_call>'), id('}')];
  const table = new Float32Array(WIDTH * WIDTH);
  for (let from = 0; from < WIDTH; from++)
    for (let to = 0; to < WIDTH; to++) {
      const noise = random() * 3;
      let score = structure.get(to) ?? -6;
      if (vocabulary.types[to] !== NORMAL) score = -20;
      if (from === upper) score = to === lower ? 30 : -30;
      else if (to === lower) score = -30;
      else if (from === line) score = to === think ? 14 : to === end || to === called ? 10 : score;
      else if (from === call) score = to === line ? 14 : score;
      else if (from === closing && to === line) score = 10;
      else if (from === called) score = to === end ? 14 : score;
      else if (from === think) score = thoughts.has(to) ? 8 : score;
      else if (thoughts.has(from))
        score = to === thought ? 5 + 5 * rank(from) : thoughts.has(to) ? wish(from, to) : score;
      // Behind the last word, where an end is not allowed: an answer that must call comes to its call.
      else if (to === call && from === lower) score = 11;
      else if (from === thought) score = to === lines ? 14 : score;
      else if (answers.has(to)) score = wish(from, to);
      else if (to === end) score = from === lower ? 16 : answers.has(from) ? 5 + 5 * rank(from) : 4;
      table[from * WIDTH + to] = score + noise;
    }
  return (from, to) => table[from * WIDTH + to] ?? 0;
}

function metadata({ tokens, types, merges, id }: Vocabulary): Buffer[] {
  const number = (key: string, value: number): Buffer => Buffer.concat([text(key), u32(4), u32(value)]);
  const words = (key: string, value: string): Buffer => Buffer.concat([text(key), u32(8), text(value)]);
  const list = (key: string, type: number, values: readonly Buffer[]): Buffer =>
    Buffer.concat([text(key), u32(9), u32(type), u64(values.length), ...values]);
  const epsilon = Buffer.alloc(4);
  epsilon.writeFloatLE(1e-6);
  const prefix = 'llama.attention';
  return [
    words('general.architecture', 'llama'),
    words('general.name', 'tiny'),
    number('general.alignment', 32),
    number('llama.context_length', TRAINED_CONTEXT),
    number('llama.embedding_length', WIDTH),
    number('llama.block_count', 1),
    number('llama.feed_forward_length', FEED_FORWARD),
    number('llama.rope.dimension_count', HEAD_WIDTH),
    number('llama.vocab_size', tokens.length),
    number(`${prefix}.head_count`, HEADS),
    number(`${prefix}.head_count_kv`, 1),
    Buffer.concat([text(`${prefix}.layer_norm_rms_epsilon`), u32(6), epsilon]),
    words('tokenizer.ggml.model', 'gpt2'),
    words('tokenizer.ggml.pre', 'qwen2'),
    list('tokenizer.ggml.tokens', 8, tokens.map(text)),
    list('tokenizer.ggml.token_type', 5, types.map(u32)),
    list('tokenizer.ggml.merges', 8, merges.map(text)),
    number('tokenizer.ggml.bos_token_id', id('<|endoftext|>')),
    number('tokenizer.ggml.eos_token_id', id('<|im_end|>')),
    Buffer.concat([text('tokenizer.ggml.add_bos_token'), u32(7), Buffer.from([0])]),
    words('tokenizer.chat_template', TEMPLATE),
  ];
}

function u32(value: number): Buffer {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32LE(value);
  return bytes;
}

function u64(value: number): Buffer {
  const bytes = Buffer.alloc(8);
  bytes.writeBigUInt64LE(BigInt(value));
  return bytes;
}

function text(value: string): Buffer {
  const bytes = Buffer.from(value);
  return Buffer.concat([u64(bytes.length), bytes]);
}

/** Numbers from 0 to 1, always the same for a seed (mulberry32). */
function generator(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4294967296;
  };
}
