// Answers of Anthropic Messages as its servers write them. Knows no gateway.
import { frame, messagesBody } from '../../support/upstreams/answers.ts';
import { list } from '../../support/upstreams/json-path.ts';
import { COUNTS, halves, type Answer, type Call, type Finish } from './exchange.ts';

const WORDS: Readonly<Record<Finish, string>> = {
  stop: 'end_turn',
  length: 'max_tokens',
  calls: 'tool_use',
  filter: 'refusal',
  refusal: 'refusal',
  sequence: 'stop_sequence',
  pause: 'pause_turn',
};
export type Block = Readonly<Record<string, unknown>>;

/** A call as a block. */
export const callOf = ({ id, name, args }: Call): Block => ({ type: 'tool_use', id, name, input: args });

const hidden = Buffer.from('hidden').toString('base64');
const searchOf = ({ query, pages }: NonNullable<Answer['searched']>): Block[] => [
  { type: 'server_tool_use', id: 'srvtoolu_1', name: 'web_search', input: { query } },
  {
    type: 'web_search_tool_result',
    tool_use_id: 'srvtoolu_1',
    content: pages.map((page) => ({
      type: 'web_search_result',
      ...page,
      encrypted_content: hidden,
      page_age: null,
    })),
  },
];

function contentOf({ thoughts = [], text, calls = [], cited, searched }: Answer): Block[] {
  const before = cited ? (text ?? '').slice(0, -cited.words.length) : text;
  const citation = cited && {
    type: 'web_search_result_location',
    url: cited.url,
    title: cited.title,
    cited_text: cited.words,
    encrypted_index: hidden,
  };
  return [
    ...thoughts.map(({ text: thinking, state }) =>
      thinking === ''
        ? { type: 'redacted_thinking', data: state }
        : { type: 'thinking', thinking, signature: state },
    ),
    ...(searched ? searchOf(searched) : []),
    ...(before ? [{ type: 'text', text: before }] : []),
    ...(cited ? [{ type: 'text', text: cited.words, citations: [citation] }] : []),
    ...calls.map(callOf),
  ];
}

/** A whole answer. */
export function bodyOf(answer: Answer): Block {
  const { input, cached, written, output, reasoning } = { ...COUNTS, ...answer.usage };
  return {
    ...messagesBody(contentOf(answer), WORDS[answer.finish]),
    stop_sequence: answer.stoppedBy ?? null,
    ...(answer.refusal === undefined
      ? {}
      : { stop_details: { type: 'refusal', category: null, explanation: answer.refusal } }),
    usage: {
      input_tokens: input - cached - written,
      cache_read_input_tokens: cached,
      cache_creation_input_tokens: written,
      output_tokens: output,
      ...(reasoning > 0 ? { output_tokens_details: { thinking_tokens: reasoning } } : {}),
    },
  };
}

/** A block as it begins, and what follows. */
function unfold(block: Block): { readonly opening: Block; readonly deltas: readonly object[] } {
  switch (block['type']) {
    case 'text':
      return {
        opening: { type: 'text', text: '', ...('citations' in block ? { citations: [] } : {}) },
        deltas: [
          ...list(block, 'citations').map((citation) => ({ type: 'citations_delta', citation })),
          ...halves(String(block['text'])).map((text) => ({ type: 'text_delta', text })),
        ],
      };
    case 'thinking':
      return {
        opening: { type: 'thinking', thinking: '', signature: '' },
        deltas: [
          { type: 'thinking_delta', thinking: block['thinking'] },
          { type: 'signature_delta', signature: block['signature'] },
        ],
      };
    case 'tool_use':
    case 'server_tool_use':
      return {
        opening: { ...block, input: {} },
        deltas: halves(JSON.stringify(block['input'])).map((partial_json) => ({
          type: 'input_json_delta',
          partial_json,
        })),
      };
    default:
      return { opening: block, deltas: [] };
  }
}

/** A streamed one. */
export function streamOf(answer: Answer): string {
  const body = bodyOf(answer);
  const usage = { ...(body['usage'] as object), output_tokens: 1 };
  const start = {
    ...body,
    content: [],
    stop_reason: null,
    stop_sequence: null,
    stop_details: null,
    usage,
  };
  let out = frame({ type: 'message_start', message: start });
  contentOf(answer).forEach((block, index) => {
    const { opening, deltas } = unfold(block);
    out += frame({ type: 'content_block_start', index, content_block: opening });
    for (const delta of deltas) out += frame({ type: 'content_block_delta', index, delta });
    out += frame({ type: 'content_block_stop', index });
  });
  const { stop_reason, stop_sequence, stop_details } = body;
  const delta = { stop_reason, stop_sequence, stop_details };
  const end = { type: 'message_delta', delta, usage: body['usage'] };
  return out + frame(end) + frame({ type: 'message_stop' });
}
