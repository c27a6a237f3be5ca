// Answers of Responses as its servers write them. Knows no gateway.
import { frame, responsesBody } from '../../support/upstreams/answers.ts';
import { at, list } from '../../support/upstreams/json-path.ts';
import { COUNTS, halves, type Answer } from './exchange.ts';

function outputOf(answer: Answer): readonly Readonly<Record<string, unknown>>[] {
  const { thoughts = [], text, refusal, calls = [], cited, searched, tokens, finish } = answer;
  const status = finish === 'length' || finish === 'filter' ? 'incomplete' : 'completed';
  const annotations = cited
    ? [
        {
          type: 'url_citation',
          start_index: (text ?? '').length - cited.words.length,
          end_index: (text ?? '').length,
          url: cited.url,
          title: cited.title,
        },
      ]
    : [];
  const logprobs = (tokens ?? []).map((token) => ({
    token: token.token,
    logprob: token.logprob,
    bytes: [...Buffer.from(token.token)],
    top_logprobs: token.top.map((other) => ({ ...other, bytes: [...Buffer.from(other.token)] })),
  }));
  const part =
    refusal === undefined
      ? { type: 'output_text', text, annotations, logprobs }
      : { type: 'refusal', refusal };
  const hasMessage = text !== undefined || refusal !== undefined;
  return [
    ...thoughts.map(({ text: thought, state }, index) => ({
      type: 'reasoning',
      id: `rs_${index}`,
      summary: thought === '' ? [] : [{ type: 'summary_text', text: thought }],
      encrypted_content: state,
    })),
    ...(searched
      ? [
          {
            type: 'web_search_call',
            id: 'ws_1',
            status: 'completed',
            action: {
              type: 'search',
              query: searched.query,
              queries: [searched.query],
              sources: searched.pages.map(({ url }) => ({ type: 'url', url })),
            },
          },
        ]
      : []),
    ...(hasMessage ? [{ type: 'message', id: 'msg_1', role: 'assistant', status, content: [part] }] : []),
    ...calls.map(({ id, name, args }) => ({
      type: 'function_call',
      id: `fc_${id}`,
      call_id: id,
      name,
      arguments: JSON.stringify(args),
      status: 'completed',
    })),
  ];
}

/** A whole answer. */
export function bodyOf(answer: Answer): object {
  const { input, cached, written, output, reasoning } = { ...COUNTS, ...answer.usage };
  const reasons = { length: 'max_output_tokens', filter: 'content_filter' } as const;
  const cutBy = answer.finish in reasons ? reasons[answer.finish as keyof typeof reasons] : null;
  return {
    ...responsesBody(outputOf(answer), cutBy),
    usage: {
      input_tokens: input,
      input_tokens_details: { cached_tokens: cached, cache_write_tokens: written },
      output_tokens: output,
      output_tokens_details: { reasoning_tokens: reasoning },
      total_tokens: input + output,
    },
  };
}

/** The events of one item between its two ends. */
function itemEvents(item: Readonly<Record<string, unknown>>, output_index: number): object[] {
  const place = { item_id: item['id'], output_index };
  if (item['type'] === 'function_call') {
    const type = 'response.function_call_arguments';
    const text = String(item['arguments']);
    return [
      ...halves(text).map((delta) => ({ type: `${type}.delta`, ...place, delta })),
      { type: `${type}.done`, ...place, arguments: text },
    ];
  }
  if (item['type'] === 'reasoning') {
    const words = { ...place, summary_index: 0 };
    return list(item, 'summary').flatMap((part) => [
      { type: 'response.reasoning_summary_part.added', ...words, part: { type: 'summary_text', text: '' } },
      { type: 'response.reasoning_summary_text.delta', ...words, delta: at(part, 'text') },
      { type: 'response.reasoning_summary_text.done', ...words, text: at(part, 'text') },
      { type: 'response.reasoning_summary_part.done', ...words, part },
    ]);
  }
  if (item['type'] === 'web_search_call')
    return ['in_progress', 'searching', 'completed'].map((state) => ({
      type: `response.web_search_call.${state}`,
      ...place,
    }));
  const part = at(item, 'content', 0);
  const words = { ...place, content_index: 0 };
  const isText = at(part, 'type') === 'output_text';
  const type = isText ? 'response.output_text' : 'response.refusal';
  const text = String(at(part, isText ? 'text' : 'refusal'));
  const tokens = list(part, 'logprobs');
  const deltas =
    tokens.length > 0
      ? tokens.map((token) => ({ delta: at(token, 'token'), logprobs: [token] }))
      : halves(text).map((delta) => ({ delta, ...(isText ? { logprobs: [] } : {}) }));
  const empty = isText
    ? { type: 'output_text', text: '', annotations: [], logprobs: [] }
    : { type: 'refusal', refusal: '' };
  return [
    { type: 'response.content_part.added', ...words, part: empty },
    ...deltas.map((delta) => ({ type: `${type}.delta`, ...words, ...delta })),
    ...list(part, 'annotations').map((annotation, annotation_index) => ({
      type: 'response.output_text.annotation.added',
      ...words,
      annotation_index,
      annotation,
    })),
    { type: `${type}.done`, ...words, ...(isText ? { text, logprobs: tokens } : { refusal: text }) },
    { type: 'response.content_part.done', ...words, part },
  ];
}

const EMPTY = { summary: [], content: [], arguments: '', status: 'in_progress' } as const;
const emptied = (item: Readonly<Record<string, unknown>>): object =>
  Object.fromEntries(
    Object.entries(item).map(([name, value]) => [
      name,
      name in EMPTY ? EMPTY[name as keyof typeof EMPTY] : value,
    ]),
  );

/** A streamed one. */
export function streamOf(answer: Answer): string {
  const response = bodyOf(answer);
  const begun = { ...response, status: 'in_progress', incomplete_details: null, output: [], usage: null };
  const events: object[] = [
    { type: 'response.created', response: begun },
    { type: 'response.in_progress', response: begun },
  ];
  outputOf(answer).forEach((item, output_index) => {
    events.push(
      { type: 'response.output_item.added', output_index, item: emptied(item) },
      ...itemEvents(item, output_index),
      { type: 'response.output_item.done', output_index, item },
    );
  });
  events.push({ type: `response.${String(at(response, 'status'))}`, response });
  return events.map((event, sequence_number) => frame({ ...event, sequence_number })).join('');
}
