// Protocols of the playground.
import type { Dialect } from '../conversation.ts';
import { chat } from './chat.ts';
import { gemini } from './gemini.ts';
import { messages } from './messages.ts';
import { responses } from './responses.ts';

export const DIALECTS: readonly Dialect[] = [chat, responses, messages, gemini];

/** Protocol with an id; Chat Completions if there is none. */
export function dialectOf(id: string | undefined): Dialect {
  return DIALECTS.find((each) => each.id === id) ?? chat;
}
