// Recorded Claude answers with thinking call no tools. This appends a call to one, in the form in which the API
// sends it, so that its thinking and signatures, which are real, take part in a turn with tools.
import type { Recording } from './corpus.ts';
import { at, framesOf, list, word } from './loose.ts';
import type { Loose } from './loose.ts';

const CALL = { type: 'tool_use', id: 'toolu_appended', name: 'look_up', input: { city: 'Kraków' } } as const;

/** A Messages recording whose answer ends in a call instead of ending the turn. */
export function appendCall(recording: Recording): Recording {
  const { res } = recording;
  if (res.kind === 'json') {
    const content = [...list(at(res.json, 'content')), CALL];
    const json = { ...res.json, content, stop_reason: 'tool_use' } as unknown as Loose;
    return { ...recording, res: { ...res, json } };
  }
  let blocks = 0;
  let text = '';
  const write = (frame: Written): void =>
    void (text += `event: ${frame.type}\ndata: ${JSON.stringify(frame)}\n\n`);
  for (const { data } of framesOf(res.text ?? '')) {
    const frame = JSON.parse(data) as Loose;
    const type = word(frame['type']);
    if (type === 'content_block_start') blocks++;
    if (type !== 'message_delta') {
      write({ ...frame, type });
      continue;
    }
    const delta = { type: 'input_json_delta', partial_json: JSON.stringify(CALL.input) };
    write({ type: 'content_block_start', index: blocks, content_block: { ...CALL, input: {} } });
    write({ type: 'content_block_delta', index: blocks, delta });
    write({ type: 'content_block_stop', index: blocks });
    write({ ...frame, type, delta: { ...at(frame, 'delta'), stop_reason: 'tool_use' } });
  }
  return { ...recording, res: { ...res, text } };
}

interface Written {
  readonly type: string;
  readonly [member: string]: unknown;
}
