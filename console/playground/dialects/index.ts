// The protocols that can be spoken in the playground, one line each.
import type { Dialect } from '../conversation.ts';
import { chat } from './chat.ts';
import { gemini } from './gemini.ts';
import { messages } from './messages.ts';
import { responses } from './responses.ts';

export const DIALECTS: readonly Dialect[] = [chat, responses, messages, gemini];

/** The one of an id; Chat Completions where there is none. */
export function dialectOf(id: string | undefined): Dialect {
  return DIALECTS.find((each) => each.id === id) ?? chat;
}
