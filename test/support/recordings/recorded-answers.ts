// Every recorded answer that an upstream of the gateway can give, of whatever protocol: its bytes as they would be sent
// again, and what it says. Judges nothing.
import { event } from '../upstreams/event-stream-frame.ts';
import {
  readConverseRecordings,
  readGeminiRecordings,
  readInvokeRecordings,
  readRecordings,
} from './corpus.ts';
import { at } from './loose.ts';
import { readChat } from './read-chat.ts';
import { readConverse, recordedStream } from './read-converse.ts';
import { readGemini } from './read-gemini.ts';
import { readMessages } from './read-messages.ts';
import { readResponses } from './read-responses.ts';
import type { Replayable } from './replay-server.ts';
import type { Said } from './said.ts';

/** `invoke` is Anthropic's own body, posted to Bedrock. */
export const RECORDED = ['chat', 'responses', 'messages', 'gemini', 'converse', 'invoke'] as const;
export type RecordedProtocol = (typeof RECORDED)[number];

export interface RecordedAnswer extends Replayable {
  readonly api: RecordedProtocol;
  readonly said: Said;
}

const READERS = { chat: readChat, responses: readResponses, messages: readMessages } as const;

/** All answers with status 200. */
export function readAnswers(): RecordedAnswer[] {
  const answers: RecordedAnswer[] = [];
  for (const recording of readRecordings())
    answers.push({ ...recording, said: READERS[recording.api](recording) });
  for (const recording of readGeminiRecordings()) {
    const { json } = recording.res;
    // The gateway asks for events; some recorders asked for one array.
    const res = Array.isArray(json)
      ? { kind: 'sse', text: json.map((chunk) => `data: ${JSON.stringify(chunk)}\r\n\r\n`).join('') }
      : recording.res;
    answers.push({ ...recording, res, api: 'gemini', said: readGemini(recording) });
  }
  for (const recording of readConverseRecordings()) {
    const said = readConverse(recording);
    const { kind, json } = recording.res;
    const stream = recordedStream(recording);
    const frames = (): Buffer => Buffer.concat(stream.events.map(([type, data]) => event(type, data)));
    const res =
      kind === 'json'
        ? { kind, ...(json ? { json } : {}) }
        : { kind: 'eventstream', bytes: stream.bytes ?? frames() };
    answers.push({ ...recording, stream: kind !== 'json', res, api: 'converse', said });
  }
  for (const recording of readInvokeRecordings())
    // Other vendors' bodies are no protocol of the gateway's.
    if (at(recording.res.json, 'type') === ('message' as unknown))
      answers.push({ ...recording, said: readMessages(recording) });
  return answers.filter(({ status }) => status === 200);
}
